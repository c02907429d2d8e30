"""Draw and Labels: the two documents from which every estimate can be computed again, years later.

A draw is append-only: a header (method, seed, size, resource), then batches of ranks, each sealed with a hash over its
content and the seal before it, so that a draw that was changed or reordered by accident is noticed. To prove to others
that nothing was chosen afterwards, publish the seal before labelling.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _check
from karat.errors import InvalidData
from karat.math.path import Ranks
from karat.results import freeze

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = "karat-draw"
VERSION = 1
UNSURE = -1

Id = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Ranks to label, laid out together and sealed."""

    ranks: Ranks
    columns: Mapping[str, NDArray[Any]]
    """What the design needs to know again about this batch, by name."""
    ids: tuple[Id, ...] | None
    seal: str

    def content(self) -> dict[str, Any]:
        return _content(self.ranks, self.columns, self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Which items are to be labelled, and how they were chosen.

    Examples
    --------
    >>> draw = Draw(method="point", parameters={"rank": 10}, seed=1, n_items=100).append([3, 7])
    >>> draw.n_ranks, Draw.from_dict(draw.to_dict()) == draw
    (2, True)
    """

    method: str
    parameters: Mapping[str, Any]
    seed: int
    n_items: int
    resource: Mapping[str, Any] | None = None
    """Where the items are and what they looked like: source, columns, fingerprint."""
    batches: tuple[Batch, ...] = field(default=())

    @property
    def n_ranks(self) -> int:
        return len(self.ranks)

    @property
    def ranks(self) -> Ranks:
        """All ranks laid out so far, in the order of the batches."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *(batch.ranks for batch in self.batches)])

    @property
    def ids(self) -> list[Id] | None:
        """The ids of ``ranks``, if the draw knows its resource."""
        if any(batch.ids is None for batch in self.batches):
            return None
        return [id_ for batch in self.batches for id_ in batch.ids or ()]

    @property
    def seal(self) -> str:
        """The seal of the last batch, or of the header."""
        return self.batches[-1].seal if self.batches else _seal("", self._header())

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of all batches, joined."""
        return np.concatenate([batch.columns[name] for batch in self.batches])

    def append(
        self,
        ranks: ArrayLike,
        *,
        columns: Mapping[str, ArrayLike] | None = None,
        ids: Sequence[Id] | None = None,
    ) -> Draw:
        """Return the draw with one more sealed batch."""
        frozen_ranks = freeze(np.asarray(ranks, dtype=np.int64))
        frozen_columns = {name: freeze(np.asarray(values)) for name, values in (columns or {}).items()}
        frozen_ids = None if ids is None else tuple(ids)
        seal = _seal(self.seal, _content(frozen_ranks, frozen_columns, frozen_ids))
        batch = Batch(ranks=frozen_ranks, columns=frozen_columns, ids=frozen_ids, seal=seal)
        return replace(self, batches=(*self.batches, batch))

    def to_dict(self) -> dict[str, Any]:
        return {**self._header(), "batches": [{**batch.content(), "seal": batch.seal} for batch in self.batches]}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Draw:
        """Rebuild a draw and check every seal."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InvalidData(f'This is not a draw: expected "format": "{FORMAT}".')
        if document.get("version") != VERSION:
            raise InvalidData(f"The draw has version {document.get('version')!r}; this karat reads version {VERSION}.")
        try:
            draw = cls(
                method=document["method"],
                parameters=document["parameters"],
                seed=document["seed"],
                n_items=document["n_items"],
                resource=document["resource"],
            )
            for number, batch in enumerate(document["batches"], start=1):
                draw = draw.append(batch["ranks"], columns=batch["columns"], ids=batch["ids"])
                if draw.seal != batch["seal"]:
                    raise InvalidData(
                        f"Batch {number} of the draw does not match its seal: it, or something before it, was changed "
                        "after it was laid out."
                    )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, InvalidData):
                raise
            raise InvalidData(f"The draw is damaged: {error!r}.") from error
        return draw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draw) and self.seal == other.seal and self._header() == other._header()

    def __hash__(self) -> int:
        return hash(self.seal)

    def _header(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "method": self.method,
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "n_items": self.n_items,
            "resource": None if self.resource is None else dict(self.resource),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Answers by rank: 1 right, 0 wrong, -1 unsure.

    Examples
    --------
    >>> labels = Labels.from_pairs([3, 1], [1, 0])
    >>> low, high = labels.bounds([1, 2, 3])
    >>> low.tolist(), high.tolist()
    ([0, 0, 1], [0, 1, 1])
    """

    ranks: Ranks
    values: NDArray[np.int8]

    @classmethod
    def from_pairs(cls, ranks: ArrayLike, values: ArrayLike) -> Labels:
        """Build from ranks and answers; of two answers for one rank the later counts."""
        rank_array, value_array = _whole_numbers("ranks", ranks), _whole_numbers("values", values)
        _check.same_length("ranks", len(rank_array), "values", len(value_array))
        bad = np.flatnonzero(~np.isin(value_array, (0, 1, UNSURE)))
        if bad.size:
            raise _check.refuse("values", "1 (right), 0 (wrong) or -1 (unsure)", value_array[bad[0]].item())
        distinct, last = np.unique(rank_array[::-1], return_index=True)
        return cls(ranks=freeze(distinct), values=freeze(value_array[::-1][last].astype(np.int8)))

    @classmethod
    def none(cls) -> Labels:
        return cls.from_pairs([], [])

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def n_sure(self) -> int:
        return int(np.sum(self.values != UNSURE))

    def and_then(self, newer: Labels) -> Labels:
        """Return both together; newer answers replace older ones."""
        return Labels.from_pairs(np.r_[self.ranks, newer.ranks], np.r_[self.values, newer.values])

    def at(self, ranks: ArrayLike) -> NDArray[np.int8]:
        """Return the answers at ranks, -1 where there is none."""
        wanted = np.asarray(ranks, dtype=np.int64)
        if not len(self):
            return np.full(wanted.shape, UNSURE, dtype=np.int8)
        place = np.searchsorted(self.ranks, wanted).clip(0, len(self) - 1)
        return np.where(self.ranks[place] == wanted, self.values[place], np.int8(UNSURE))

    def bounds(self, ranks: ArrayLike) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the labels as they count below and above: unsure and missing ones as 0 below, as 1 above."""
        values = self.at(ranks)
        return (values == 1).astype(np.int8), (values != 0).astype(np.int8)


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values).ravel()
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < 2**53)):
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu" or (array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max):
        raise _check.refuse(name, "whole numbers", f"values of type {array.dtype}")
    return array.astype(np.int64)


def _content(ranks: Ranks, columns: Mapping[str, NDArray[Any]], ids: Sequence[Id] | None) -> dict[str, Any]:
    return {
        "ranks": ranks.tolist(),
        "columns": {name: values.tolist() for name, values in columns.items()},
        "ids": None if ids is None else list(ids),
    }


def _seal(previous: str, content: Mapping[str, Any]) -> str:
    text = json.dumps({"previous": previous, **content}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
