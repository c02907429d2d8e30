"""What the server writes down about itself: a line a request, as text or JSON; never a header, query or body."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

STYLES = ("quiet", "text", "json")
"""Warnings only, as text; requests too, as text; the same as JSON lines."""
_OURS = ("method", "path", "status", "milliseconds")


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **{name: getattr(record, name) for name in _OURS if hasattr(record, name)},
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if hasattr(record, "path"):
            given = vars(record)
            text += " {method} {path} {status} {milliseconds:.1f} ms".format(**given)
        return text


def configure_logging(style: str) -> None:
    """Send this process's log to stderr; called by whoever starts a server, never on import."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if style == "json" else _Text("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    level = logging.WARNING if style == "quiet" else logging.INFO
    for name in ("karat", "uvicorn.error"):
        logging.getLogger(name).setLevel(level)
