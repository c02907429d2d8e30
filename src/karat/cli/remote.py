"""Talking to a server of the labelling service."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from karat.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 600


class Remote:
    """One project on a server, addressed as https://host/project (the page's address will do)."""

    def __init__(self, address: str, token: str) -> None:
        parts = urllib.parse.urlsplit(address)
        path = [part for part in f"{parts.path}/{parts.fragment}".split("/") if part not in {"", "p", "e"}]
        if parts.scheme not in {"http", "https"} or not parts.netloc or len(path) != 1:
            raise InvalidInput(f"'SERVER' must be like https://karat.example/shared-task; got {address!r}.")
        self._base = f"{parts.scheme}://{parts.netloc}/api/projects/{urllib.parse.quote(path[0])}"
        self._headers = {"authorization": f"Bearer {token}"}

    def call(self, method: str, path: str) -> Any:
        return self._send(urllib.request.Request(f"{self._base}/{path}", method=method, headers=self._headers))  # noqa: S310

    def upload(self, path: str, source: Path, **query: str) -> Any:
        """Send a file as the body."""
        address = f"{self._base}/{path}?{urllib.parse.urlencode(query)}"
        try:
            headers = {**self._headers, "content-length": str(source.stat().st_size),
                       "content-type": "application/octet-stream"}  # fmt: skip
            with source.open("rb") as stream:
                return self._send(urllib.request.Request(address, data=stream, method="POST", headers=headers))  # noqa: S310
        except OSError as error:
            raise InvalidInput(f"{source} cannot be read: {error.strerror}.") from error

    def _send(self, request: urllib.request.Request) -> Any:
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as response:  # noqa: S310
                text = response.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            raise InvalidInput(_detail(error)) from None
        except urllib.error.URLError as error:
            raise InvalidInput(f"{request.full_url} cannot be reached: {error.reason}.") from None
        except (ConnectionError, TimeoutError) as error:
            raise InvalidInput(f"The server broke off: {error}.") from None


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The server said {error.code} {HTTPStatus(error.code).phrase}."
