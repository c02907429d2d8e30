"""Rows that were measured already: an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path


class Kept:
    """Measured rows in a file of JSON lines, by what they answer."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[str, list[dict]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                found = json.loads(line)
                self.rows[found["question"]] = found["rows"]

    def rows_of(self, question: str, kind, measure):
        """Return the rows kept for a question, or measure and keep them."""
        if question not in self.rows:
            self.rows[question] = [asdict(row) for row in measure()]
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({"question": question, "rows": self.rows[question]}) + "\n")
        return [kind(**row) for row in self.rows[question]]
