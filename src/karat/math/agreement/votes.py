"""Votes: who answered what about which item, as three arrays; missing votes are simply not there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from karat import _check
from karat.errors import InvalidInput

POSITIVE, NEGATIVE, UNSURE = 1, 0, -1
ANSWERS = (NEGATIVE, POSITIVE, UNSURE)
"""The order of columns wherever answers are counted; an answer is its own index into it."""

Codes = NDArray[np.int64]
Answers = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    """Votes of annotators about items.

    Examples
    --------
    >>> votes = Votes.from_arrays(item=["a", "a", "b"], annotator=["ann", "bob", "ann"], answer=[1, 0, -1])
    >>> votes.n_items, votes.n_annotators
    (2, 2)
    >>> votes.counts().tolist()  # negative, positive, unsure
    [[1, 1, 0], [0, 0, 1]]
    """

    items: NDArray[Any]
    """The distinct items as they were given, sorted."""
    annotators: NDArray[Any]
    """The distinct annotators as they were given, sorted."""
    item: Codes
    """Position in ``items`` of each vote, ascending."""
    annotator: Codes
    """Position in ``annotators`` of each vote, ascending within an item."""
    answer: Answers
    """1 positive, 0 negative, -1 unsure."""

    @classmethod
    def from_arrays(
        cls, *, item: ArrayLike, annotator: ArrayLike, answer: ArrayLike, items: ArrayLike | None = None
    ) -> Votes:
        """Build from three arrays of the same length; of two votes by one annotator on an item the later counts.

        Parameters
        ----------
        item, annotator
            Whole numbers or texts.
        answer
            1 positive, 0 negative, -1 unsure.
        items
            All items there are, where some have no votes yet.
        """
        item_names, annotator_names = _names("item", item), _names("annotator", annotator)
        values = np.asarray(answer)
        _check.same_length("item", len(item_names), "annotator", len(annotator_names))
        _check.same_length("item", len(item_names), "answer", values.size)
        answers = _as_answers("answer", values)
        annotators, annotator_code = np.unique(annotator_names, return_inverse=True)
        if items is None:
            known, item_code = np.unique(item_names, return_inverse=True)
        else:
            known = np.unique(_names("items", items))
            item_code = _positions("item", item_names, known)
        # The last vote of each pair: stable order puts it at the end of its run.
        pair = item_code.astype(np.int64) * max(len(annotators), 1) + annotator_code
        order = np.argsort(pair, kind="stable")
        last = np.ones(len(order), dtype=bool)
        last[:-1] = pair[order][1:] != pair[order][:-1]
        kept = order[last]
        return cls(
            items=_frozen(known),
            annotators=_frozen(annotators),
            item=_frozen(item_code[kept].astype(np.int64)),
            annotator=_frozen(annotator_code[kept].astype(np.int64)),
            answer=_frozen(answers[kept]),
        )

    def __len__(self) -> int:
        return len(self.answer)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    def counts(self, *, unsure: str = "category") -> Codes:
        """Return how often each item got each answer: negative, positive and, unless "missing", unsure."""
        _check.one_of("unsure", unsure, ("category", "missing"))
        table = np.bincount(3 * self.item + self.answer % 3, minlength=3 * self.n_items).reshape(-1, 3)
        return table[:, :2].astype(np.int64) if unsure == "missing" else table.astype(np.int64)

    def truth_of(self, truth: ArrayLike | dict[Any, int]) -> Answers:
        """Return what is known about each of ``items`` as 1, 0, or -1 where nothing is known.

        Parameters
        ----------
        truth
            A mapping from item to 1 or 0 (gold questions; items without votes are passed over), or one value for each
            of ``items``.
        """
        if isinstance(truth, dict):
            known = np.full(self.n_items, UNSURE, dtype=np.int8)
            if truth:
                names, values = _names("truth", list(truth)), _as_answers("truth", np.array(list(truth.values())))
                _require_same_kind("truth", names, self.items)
                order = np.argsort(names)
                place = np.searchsorted(names[order], self.items).clip(0, len(names) - 1)
                found = names[order][place] == self.items
                known[found] = values[order][place][found]
            return known
        values = np.asarray(truth)
        _check.same_length("truth", values.size, "items", self.n_items)
        return _as_answers("truth", values)

    def incidence(self) -> sparse.csr_array:
        """Return a sparse table, items by (annotator, answer), three columns an annotator, with a 1 for each vote."""
        columns = 3 * self.annotator + self.answer % 3
        shape = (self.n_items, 3 * self.n_annotators)
        return sparse.csr_array((np.ones(len(self)), (self.item, columns)), shape=shape)


def _names(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return ids as an array of whole numbers or of texts; never of texts made from numbers."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise _check.refuse(name, "one-dimensional", f"{array.ndim} dimensions")
    if array.size == 0:
        return array.astype(np.int64) if array.dtype.kind == "f" else array
    if array.dtype.kind in "iu":
        return array
    listed = array.tolist() if isinstance(values, np.ndarray) else list(values)  # type: ignore[arg-type]
    if all(isinstance(value, str) for value in listed):
        return np.array(listed, dtype=np.str_)
    raise _check.refuse(name, "all whole numbers or all texts", f"values such as {listed[0]!r}")


def _as_answers(name: str, values: NDArray[Any]) -> Answers:
    if values.ndim != 1:
        raise _check.refuse(name, "one-dimensional", f"{values.ndim} dimensions")
    if values.dtype.kind not in "biuf" and values.size:
        raise _check.refuse(name, "made of 1, 0 and -1", f"values of type {values.dtype}")
    bad = np.flatnonzero(~np.isin(values, ANSWERS)) if values.size else np.zeros(0, np.int64)
    if bad.size:
        hint = f"It stands at position {bad[0]}."
        raise _check.refuse(name, "made of 1 (positive), 0 (negative) and -1 (unsure)", values[bad[0]].item(), hint)
    return values.astype(np.int8)


def _require_same_kind(name: str, first: NDArray[Any], second: NDArray[Any]) -> None:
    if first.size and second.size and (first.dtype.kind == "U") != (second.dtype.kind == "U"):
        raise InvalidInput(f"'{name}' and the votes must both name items by whole numbers or both by text.")


def _positions(name: str, values: NDArray[Any], known: NDArray[Any]) -> Codes:
    _require_same_kind("items", known, values)
    if not values.size:
        return np.zeros(0, dtype=np.int64)
    place = np.searchsorted(known, values).clip(0, max(len(known) - 1, 0))
    strange = np.flatnonzero(known[place] != values) if known.size else np.arange(len(values))
    if strange.size:
        raise _check.refuse(name, "one of 'items'", values[strange[0]].item())
    return place.astype(np.int64)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
