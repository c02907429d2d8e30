"""How many labels does it take? Every method on every ranking, peers at equally many labels: `make bench-labels`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.labels import at_ranks, page, promise, whole_curve
from benchmarks.labels.kept import Kept
from benchmarks.labels.rankings import DEFAULT_FOLDER, found_in, generated
from karat.errors import InvalidInput

LEVEL = 0.95
MOST_ITEMS = 2e7
"""Replications times items of a ranking: the largest rankings are replayed less often, at least 20 times."""


def main(argv=()):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels", description=__doc__)
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="rankings beside the generated ones")
    parser.add_argument("--replications", type=int, default=10, help="of each method on each ranking")
    parser.add_argument("--peer-replications", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of rankings")
    parser.add_argument("--keep", type=Path, help="a file in which measured rows are kept, to go on after a break")
    parser.add_argument("--write", action="store_true", help="put the tables and the picture into docs/")
    given = parser.parse_args(argv)
    rankings = [*generated(), *found_in(given.folder)]
    if given.only:
        rankings = [ranking for ranking in rankings if ranking.name in given.only]
    if not rankings:
        raise InvalidInput(f"'--only' must name rankings; got {given.only}.")
    kept = Kept(given.keep)
    curves, points, promises = [], [], []
    for ranking in sorted(rankings, key=lambda ranking: ranking.n_items):
        curves += measure_curves(ranking, kept, replications=given.replications)
        few = max(3, min(given.peer_replications, int(MOST_ITEMS / 5 / ranking.n_items)))
        points += kept.rows_of(
            f"{ranking.name}, three ranks",
            at_ranks.Measured,
            lambda ranking=ranking, few=few: at_ranks.measure(ranking, replications=few),
        )
        promises += kept.rows_of(
            f"{ranking.name}, PAULA's promise",
            promise.Measured,
            lambda ranking=ranking, few=few: [promise.measure(ranking, replications=few)],
        )
    text = page.tables(rankings, curves, points, promises)
    print(f"\n{text}")
    for baseline, ratio in whole_curve.ratios(curves).items():
        print(f"geometric mean of labels, {baseline} over certify: {ratio:.2f}")
    certified = [row for row in curves if row.method.startswith("certify")]
    least = min(certified, key=lambda row: row.coverage)
    print(f"least coverage of certify: {least.coverage:.3f} ({least.method} on {least.ranking})")
    if given.write:
        page.write(text, curves)
    for row in certified:
        if not whole_curve.believable(row, level=LEVEL):
            raise SystemExit(f"{row.method} covers {row.coverage:.3f} on {row.ranking}, less than {LEVEL}")


def measure_curves(ranking, kept, *, replications):
    """Return one row a method, saying each as it comes."""
    print(f"  {ranking.name}: {ranking.n_items:,} items, {ranking.labels.mean():.2%} right", flush=True)
    times = max(min(replications, int(MOST_ITEMS / ranking.n_items)), min(replications, 20))
    rows = []
    for method in whole_curve.METHODS:
        rows += kept.rows_of(
            f"{ranking.name}, {method}",
            whole_curve.Measured,
            lambda method=method: [whole_curve.measure(ranking, method, replications=times)],
        )
        row = rows[-1]
        print(
            f"    {row.method:26} {row.labels:9,.0f} labels  {row.width:7.2f} of the target  "
            f"covered {row.coverage:.3f}  error {row.error:.4f}",
            flush=True,
        )
    return rows
