"""What an engine can do, and the order of items that all engines share.

Order: score descending, then a seeded hash of the id (so that ties are broken in a way that has nothing to do with the
labels), then the id itself (text by its UTF-8 bytes).
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from karat import _check
from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from karat.draws import Draw, Id
    from karat.math.path import Floats, Ranks

    Watch = Callable[[str, float | None], None]
    """Told what is being read and how much of it is done (0 to 1, None if unknown)."""

HASH_BITS = 31
LOOKED_UP_AGAIN = 200
"""How many drawn items are looked up when a draw is taken up again."""
_PRIME = 2**HASH_BITS - 1
_FACTOR = 48271


class Items(NamedTuple):
    """Items at some ranks."""

    ranks: Ranks
    ids: list[Id]
    scores: Floats
    payload: list[dict[str, Any]]
    """The other columns of each item."""


class Engine(Protocol):
    """A ranked resource."""

    n_items: int
    seed: int

    def describe(self) -> dict[str, Any]:
        """Return where the items are and what they look like, for the head of a draw."""
        ...

    def ids_at(self, ranks: Ranks) -> list[Id]: ...

    def items_at(self, ranks: Ranks) -> Items: ...

    def classes(self, column: str) -> NDArray[np.uint8]:
        """Return a proxy column as one small class an item, in rank order."""
        ...

    def segments(self, column: str) -> tuple[NDArray[np.int64], list[str]]:
        """Return the segment of each item by number, in rank order, and the names of the segments."""
        ...

    def scores_at(self, ranks: Ranks) -> Floats: ...

    def ranks_of(self, scores: ArrayLike) -> Ranks:
        """Return how many items are at least as good as each score: the rank of a cut by that score."""
        ...


def hash_constants(seed: int) -> tuple[int, int, int, int]:
    """Return prime, factor, multiplier and shift of the seeded hash."""
    words = np.random.SeedSequence(seed).generate_state(2)
    return _PRIME, _FACTOR, int(words[0]) % (_PRIME - 1) + 1, int(words[1]) % _PRIME


def hash_numbers(number: Any, *, seed: int) -> Any:
    """Return a seeded hash in [0, 2^31 - 1) of 64-bit whole numbers: a numpy array, a column of a table, or SQL.

    Only ``*``, ``+`` and ``%`` are used and nothing exceeds 62 bits, so every engine computes the same. Taking the
    remainder twice makes it positive whether an engine's ``%`` follows the sign of the left side or of the right one.
    """
    prime, factor, multiplier, shift = hash_constants(seed)
    mixed = ((number % prime + prime) % prime * multiplier + shift) % prime
    return ((mixed * mixed) % prime * factor + mixed) % prime


def hash_ids(numbers: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
    """Return a seeded hash in [0, 2^31 - 1) of whole-number ids, in arithmetic that every engine can do."""
    hashed: NDArray[np.int64] = hash_numbers(np.asarray(numbers, dtype=np.int64), seed=seed)
    return hashed


def number_texts(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the first 60 bits of each text's MD5, the number that stands for a text id in every engine."""
    digests = [hashlib.md5(text.encode(), usedforsecurity=False).digest()[:8] for text in texts]
    return (np.frombuffer(b"".join(digests), dtype=">u8") >> np.uint64(4)).astype(np.int64)


def order_rows(scores: Floats, ids: NDArray[Any], *, seed: int) -> NDArray[np.int64]:
    """Return the rows by rank: score descending, then the seeded hash, then the id; ids are int64 or texts.

    Examples
    --------
    >>> order_rows(np.array([0.2, 0.9, 0.2]), np.array(["a", "b", "c"], dtype=object), seed=2)
    array([1, 0, 2])
    """
    order = np.argsort(-scores, kind="stable")
    tied = scores[order][1:] == scores[order][:-1]
    if tied.any():
        members = np.flatnonzero(np.r_[tied, False] | np.r_[False, tied])  # places that share their score with another
        rows = order[members]
        if ids.dtype == object:
            texts = ids[rows]
            last: NDArray[Any] = np.array([text.encode() for text in texts], dtype=object)
            numbers = number_texts(texts.tolist())
        else:
            last = numbers = ids[rows]
        hashes = hash_ids(numbers, seed=seed)
        order[members] = rows[_lexsort(last, hashes, -scores[rows])]
    return order


def _lexsort(last: NDArray[Any], middle: NDArray[np.int64], first: Floats) -> NDArray[np.int64]:
    """Sort by first, middle, last; last (which may hold bytes of any length) is looked at only where it decides."""
    if last.dtype != object:
        return np.lexsort((last, middle, first))
    order = np.lexsort((middle, first))
    same = (first[order][1:] == first[order][:-1]) & (middle[order][1:] == middle[order][:-1])
    edges = np.flatnonzero(np.diff(np.r_[False, same, False]))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        rows = order[start : stop + 1]
        order[start : stop + 1] = rows[sorted(range(len(rows)), key=last[rows].__getitem__)]
    return order


class Fingerprint(NamedTuple):
    """What the scores of a resource look like, whatever the order of its rows."""

    n_items: int
    lowest: float
    highest: float
    checksum: str
    """Over the number of items in each of 65,536 equal steps between the lowest and the highest score."""

    @classmethod
    def of_counts(cls, counts: NDArray[np.int64], *, lowest: float, highest: float) -> Fingerprint:
        digest = hashlib.sha256(np.ascontiguousarray(counts, dtype="<i8").tobytes()).hexdigest()[:16]
        return cls(int(counts.sum()), lowest + 0.0, highest + 0.0, digest)  # + 0.0: no minus zero

    def to_dict(self) -> dict[str, Any]:
        return {
            "n_items": self.n_items,
            "lowest_score": self.lowest,
            "highest_score": self.highest,
            "score_checksum": self.checksum,
        }


def require_same_resource(engine: Engine, draw: Draw) -> None:
    """Raise, saying what changed, unless the engine ranks the resource that a draw was taken from.

    The fingerprint sees the scores; some of the drawn ranks, looked up again, see whether they hold the same items.
    """
    then = (draw.resource or {}).get("fingerprint")
    if not then:
        return
    now = engine.describe()["fingerprint"]
    if now["n_items"] != then["n_items"]:
        what = f"it had {then['n_items']:,} items and has {now['n_items']:,} now"
    elif any(now[name] != then.get(name) for name in ("lowest_score", "highest_score")):
        what = (
            f"its scores ranged from {then.get('lowest_score')} to {then.get('highest_score')} and range from "
            f"{now['lowest_score']} to {now['highest_score']} now"
        )
    elif now["score_checksum"] != then.get("score_checksum"):
        what = "it has as many items in the same range, but other scores"
    else:
        what = _other_item(engine, draw)
    if what:
        raise InvalidData(f"The resource has changed since the draw was made: {what}.")


def _other_item(engine: Engine, draw: Draw) -> str:
    ids = draw.ids
    if not ids:
        return ""
    places = np.unique(np.linspace(0, len(ids) - 1, LOOKED_UP_AGAIN).astype(np.int64))
    ranks = draw.ranks[places]
    for rank, now, place in zip(ranks.tolist(), engine.ids_at(ranks), places.tolist(), strict=True):
        if str(now) != str(ids[place]):
            return f"the item at rank {rank:,} was {ids[place]!r} and is {now!r} now"
    return ""


def require_ranks(ranks: Ranks, n_items: int) -> None:
    if len(ranks) and (ranks.min() < 1 or ranks.max() > n_items):
        bad = ranks[(ranks < 1) | (ranks > n_items)][0]
        raise _check.refuse("ranks", f"between 1 and {n_items:,}", int(bad))


def check_thresholds(scores: ArrayLike) -> Floats:
    values = np.atleast_1d(np.asarray(scores, dtype=np.float64))
    for value in values[~np.isfinite(values)]:
        raise _check.refuse("scores", "finite", math.nan if np.isnan(value) else float(value))
    return values
