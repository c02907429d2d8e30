"""Warnings about submissions whose links would not meet those of the systems before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from karat.pool.relation_ends import compare_links
from karat.service.evaluation_task import EvaluationTask

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from karat.pool.pool import Pool
    from karat.pool.relation_ends import LinksCompared
    from karat.pool.state import System
    from karat.service.aside import Aside
    from karat.service.pools import Pools
    from karat.store.evaluations import EvaluationRow, Submission

_TWICE = "The same relation then counts as two."


class LinkWarnings:
    """Warnings about the submissions of an installation; a file is looked at anew only if other systems compete."""

    def __init__(self, pools: Pools, aside: Aside) -> None:
        self._pools = pools
        self._aside = aside
        self._known: dict[tuple[int, str], tuple[list[int], list[str]]] = {}

    def of(self, row: EvaluationRow, submissions: Iterable[Submission]) -> dict[int, list[str]]:
        """Return what to warn of, by submission: one that waits is compared with all systems, others with earlier."""
        if EvaluationTask.from_dict(row.settings).kind != "relations":
            return {}
        found = {}
        for each in submissions:
            if each.state in {"checked", "accepted"}:
                with self._aside.use(row) as pool:
                    found[each.id] = self._of_one(row, each, pool)
        return found

    def _of_one(self, row: EvaluationRow, submission: Submission, pool: Pool) -> list[str]:
        if submission.state == "accepted":
            (own,) = (each for each in pool.state.systems
                      if (each.name, each.version) == (submission.system, submission.version))  # fmt: skip
            file, before = pool.folder / own.folder / "payload.parquet", own.number
        else:
            file, before = self._pools.incoming(row) / f"{submission.id}.jsonl", len(pool.state.systems) + 1
        others = [each for each in pool.systems if each.number < before and each.name != submission.system]
        key, numbers = (submission.id, submission.state), [each.number for each in others]
        known = self._known.get(key)
        if known is None or known[0] != numbers:
            known = self._known[key] = (numbers, _look(pool, file, others))
        return known[1]


def _look(pool: Pool, file: Path, others: list[System]) -> list[str]:
    if not others or not file.is_file():
        return []
    try:
        return warn(compare_links(pool, file, others))
    except duckdb.IOException:  # a later version took its place just now
        return []


def warn(found: LinksCompared) -> list[str]:
    """Say how a submission's links differ from those that systems before it give the same names."""
    warnings = []
    of = f"of the {found.names:,} names that earlier systems have too"
    if found.lacking:
        warnings.append(f"{found.lacking:,} {of} come without a link, though earlier systems link them. {_TWICE}")
    if found.alone:
        warnings.append(f"{found.alone:,} {of} come with a link, though no earlier system links them. {_TWICE}")
    if 2 * found.known < found.linked:
        warnings.append(
            f"{found.known:,} of the {found.linked:,} names that earlier systems link too have a link in common with "
            f"them: the links may be of different kinds (titles and Q-numbers, say). {_TWICE}"
        )
    return warnings
