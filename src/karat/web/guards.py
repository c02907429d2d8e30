"""ASGI layers around every request: headers, where it came from, how large it is, how long it took."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_log = logging.getLogger("karat.web")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")
_TAKES_FILES = ("/import", "/api/uploads", "/submissions")
_DOCUMENTS, MOST_DOCUMENTS = "/api/documents", 100_000_000
"""Documents are held in memory while they are checked."""
_EDGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """Counts requests and their durations for Prometheus; names no person and no project."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0

    def count(self, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[method, status] += 1
            self._seconds += seconds
            self._buckets[next((edge for edge in _EDGES if seconds <= edge), float("inf"))] += 1

    def text(self) -> str:
        with self._lock:
            lines = ["# TYPE karat_requests_total counter"]
            lines += [f'karat_requests_total{{method="{method}",status="{status}"}} {count}'
                      for (method, status), count in sorted(self._requests.items())]  # fmt: skip
            lines.append("# TYPE karat_request_seconds histogram")
            total = 0
            for edge in (*_EDGES, float("inf")):
                total += self._buckets[edge]
                name = "+Inf" if edge == float("inf") else f"{edge:g}"
                lines.append(f'karat_request_seconds_bucket{{le="{name}"}} {total}')
            lines += [f"karat_request_seconds_sum {self._seconds:.6f}", f"karat_request_seconds_count {total}"]
        return "\n".join(lines) + "\n"


class Guards:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, most_body: int, most_upload: int) -> None:
        self.app = app
        self.metrics = metrics
        self.most_body = most_body
        self.most_upload = most_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}

        most = self._most_of(scope["path"])
        body = _Body(receive, most)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if body.too_large:
                return  # what the application makes of half a body is of no interest
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_ours(scope["path"], message["headers"])
            await send(message)

        try:
            refusal = self._refuse(scope, headers, most)
            if refusal is None:
                await self._run(scope, body, send_with_headers)
            if body.too_large:
                refusal = 413, f"A request may have {most:,} bytes at most."
            if refusal is not None:
                status = refusal[0]
                await _answer(send, scope["path"], *refusal)
        finally:
            seconds = time.perf_counter() - began
            self.metrics.count(scope["method"], status, seconds)
            seen = {"method": scope["method"], "path": scope["path"], "status": status, "milliseconds": 1000 * seconds}
            _log.info("request", extra=seen)

    def _most_of(self, path: str) -> int:
        """Return how many bytes a request may bring."""
        if path == _DOCUMENTS:
            return min(MOST_DOCUMENTS, self.most_upload)
        return self.most_upload if path.endswith(_TAKES_FILES) else self.most_body

    async def _run(self, scope: Scope, body: _Body, send: Send) -> None:
        try:
            await self.app(scope, body.receive, send)
        except ClientDisconnect:
            if not body.too_large:
                raise

    def _refuse(self, scope: Scope, headers: dict[str, str], most: int) -> tuple[int, str] | None:
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            return 413, f"A request may have {most:,} bytes at most."
        if scope["method"] in SAFE_METHODS:
            return None
        # another site must not act with this browser's cookie
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc != headers.get("host", "")
        if foreign or headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return 403, "Requests from other sites are refused."
        return None


class _Body:
    """Reads a request's body up to a limit; past it the sender seems to have gone away."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._left = most
        self.too_large = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            self.too_large = True
            return {"type": "http.disconnect"}
        return message


def _with_ours(path: str, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    present = {name.lower() for name, _ in given}
    wanted = HEADERS if path.startswith("/assets/") else {**HEADERS, "cache-control": "no-store"}
    return given + [(name.encode(), value.encode()) for name, value in wanted.items() if name.encode() not in present]


async def _answer(send: Send, path: str, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": _with_ours(path, headers)})
    await send({"type": "http.response.body", "body": body})
