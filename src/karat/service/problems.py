"""What can stand in the way of a use case; each is translated to an HTTP status at the rim."""

from __future__ import annotations

from karat.errors import KaratError


class NotFound(KaratError, LookupError):  # noqa: N818
    """There is no such thing, or none that this person may know of."""


class NotAllowed(KaratError, PermissionError):  # noqa: N818
    """The person is known and may not do this."""


class NotSignedIn(KaratError, PermissionError):  # noqa: N818
    """Nobody knows who is asking."""


class Conflict(KaratError):  # noqa: N818
    """It contradicts what was done before."""


class TooManyTries(KaratError):  # noqa: N818
    """Too many failed sign-ins; ``seconds`` says when to come back."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too many failed sign-ins; try again in {max(1, round(seconds / 60))} minutes.")
        self.seconds = seconds
