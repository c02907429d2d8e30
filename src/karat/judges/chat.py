"""Asking a model one question: waits, tries again, and never takes longer or reads more than it should."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Self

import httpx2
import orjson

from karat.errors import KaratError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from karat.judges.settings import Judge

MOST_BYTES = 1_000_000
_LONGEST_WAIT = 60.0


class NoAnswer(KaratError):  # noqa: N818
    """The model could not be reached, or said nothing that has the shape of an answer."""


class Chat:
    """A connection to one model; several threads may use it."""

    def __init__(self, judge: Judge, *, sleep: Callable[[float], Any] = time.sleep) -> None:
        self.judge = judge
        self._sleep = sleep
        self._calls = 0
        self._lock = threading.Lock()
        headers = {"authorization": f"Bearer {judge.key}"} if judge.key_variable else {}
        # no redirects: they could lead a key elsewhere
        self._client = httpx2.Client(headers=headers, timeout=judge.timeout, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    @property
    def calls(self) -> int:
        """Return how many calls were made, failed ones included: most are paid for."""
        return self._calls

    def reply(self, messages: Sequence[dict[str, str]]) -> str:
        """Return what the model says, trying again where that may help."""
        body = orjson.dumps({"model": self.judge.model, "messages": list(messages), "temperature": 0})
        said, wait = "", 0.0
        for attempt in range(self.judge.tries):
            if wait:
                self._sleep(wait)
            wait = min(2.0**attempt, _LONGEST_WAIT)
            with self._lock:
                self._calls += 1
            try:
                return self._ask(body)
            except httpx2.TimeoutException:
                said = f"no answer within {self.judge.timeout:g} s"
            except _TryAgainError as error:
                said, wait = str(error), wait if error.wait is None else min(error.wait, _LONGEST_WAIT)
            except httpx2.HTTPError as error:
                said = str(error) or type(error).__name__
        raise NoAnswer(f"The judge {self.judge.name!r} gave no answer in {self.judge.tries} tries: {said}.")

    def _ask(self, body: bytes) -> str:
        began = time.monotonic()
        with self._client.stream(
            "POST", self.judge.url, content=body, headers={"content-type": "application/json"}
        ) as response:
            held = bytearray()
            for chunk in response.iter_bytes():
                held += chunk
                if len(held) > MOST_BYTES:
                    raise _TryAgainError(f"an answer of more than {MOST_BYTES:,} bytes")
                if time.monotonic() - began > self.judge.timeout:  # one that drips
                    raise _TryAgainError(f"no answer within {self.judge.timeout:g} s")
        status = response.status_code
        if status == 429 or status >= 500:
            wanted = response.headers.get("retry-after", "")
            raise _TryAgainError(f"status {status}", wait=float(wanted) if wanted.isdigit() else None)
        if status != 200:
            raise NoAnswer(f"The judge {self.judge.name!r} refuses: status {status}.")
        return _content(bytes(held))


class _TryAgainError(Exception):
    """Something that may pass; ``wait`` is how long the endpoint wants us to."""

    def __init__(self, said: str, *, wait: float | None = None) -> None:
        super().__init__(said)
        self.wait = wait


def _content(body: bytes) -> str:
    try:
        content = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        content = None
    if not isinstance(content, str):
        raise _TryAgainError("an answer without choices[0].message.content")
    return content
