"""Speaking to a running service: where it is, with which token, and what its refusals mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Self

import httpx2
import typer

from karat.errors import Defect, InvalidData, InvalidInput, KaratError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

Server = Annotated[
    str | None,
    typer.Option("--server", help="Where the service is. [environment: KARAT_SERVER; default: http://127.0.0.1:8000]"),
]
Token = Annotated[
    str | None, typer.Option("--token", help="An API token; better in the environment. [environment: KARAT_TOKEN]")
]
DEFAULT_SERVER = "http://127.0.0.1:8000"


def server_named(server: str | None) -> bool:
    """Return whether a service was named, by option or environment."""
    return bool(server or os.environ.get("KARAT_SERVER"))


def open_to_send(path: Path) -> BinaryIO:
    """Open a file whose bytes are sent as they are."""
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error


class Client:
    """A connection to one service."""

    def __init__(self, server: str | None, token: str | None) -> None:
        self.address = (server or os.environ.get("KARAT_SERVER") or DEFAULT_SERVER).rstrip("/")
        secret = token or os.environ.get("KARAT_TOKEN")
        if not self.address.startswith(("http://", "https://")):
            raise InvalidInput(f"'--server' must be an address with http:// or https://; got {self.address!r}.")
        if not secret or not secret.isascii() or not secret.isprintable():
            raise InvalidInput("'--token' or KARAT_TOKEN must be an API token; make one on the page, under your name.")
        headers = {"authorization": f"Bearer {secret}"}
        # a redirect is no answer: followed, it would carry the token to wherever it points
        self._client = httpx2.Client(
            base_url=self.address, headers=headers, timeout=httpx2.Timeout(10.0, read=600.0), follow_redirects=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str) -> httpx2.Response:
        return self.send("GET", path)

    def send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Return the response; what the service refuses is raised as it says it."""
        try:
            response = self._client.request(method, path, **options)
        except httpx2.TransportError as error:
            raise KaratError(f"{self.address} cannot be reached: {str(error) or type(error).__name__}.") from error
        if response.is_success:
            return response
        raise self._explain(response)

    def _explain(self, response: httpx2.Response) -> KaratError:
        try:
            document = response.json()
            detail = str(document["detail"])
        except (ValueError, KeyError, TypeError):
            return KaratError(f"{self.address} answered {response.status_code}: is a karat service there?")
        defects = [Defect(entry["line"], entry["message"]) for entry in document.get("defects") or []]
        return InvalidData(detail, defects=defects) if defects else KaratError(detail)
