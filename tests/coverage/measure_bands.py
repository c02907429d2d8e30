"""Print the coverage tables of docs/explanation/bands.md: ``python -m tests.coverage.measure_bands [runs] [FOLDER]``.

With a folder of labelled rankings, those of the table of real rankings instead.
"""

import sys
from pathlib import Path

from tests.coverage.band_populations import POPULATIONS, measure, measure_comparison, measure_pointwise
from tests.coverage.test_bands import compare_on_real_data, read_rankings

SIZES = {"rare": (1000, 1500, 5000)}
POINTWISE = (
    ("binormal", 200),
    ("binormal", 1000),
    ("skewed", 1000),
    ("tied", 1000),
    ("heavy", 1000),
    ("rare", 5000),
)
NAMES = ("band", "average_precision", "roc_auc", "best_f1")


REAL = ("default", "clemencon-vayatis", "exact", "naive")


def measure_real(n_runs, folder):
    print(f"samples of 1,000, {n_runs} each: mean width (share that held the whole curve)\n")
    print(f"| ranking | {' | '.join(REAL)} |\n{'|---' * (len(REAL) + 1)}|")
    for name, ranking in read_rankings(folder).items():
        widths, held = compare_on_real_data({name: ranking}, n_runs, REAL)
        cells = [f"{widths[name, method]:.4f} ({held[name, method] / n_runs:.2f})" for method in REAL]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main(n_runs=200):
    for curve, method in (("pr", "default"), ("roc", "default"), ("pr", "exact")):
        print(f"\n{curve}, {method}, {n_runs} runs\n\n| population | n | width | band | AP | AUC | best F1 |")
        print("|---|---|---|---|---|---|---|")
        for name in POPULATIONS:
            for n_items in SIZES.get(name, (200, 1000)):
                held, width = measure(name, n_items, n_runs, curve=curve, method=method)
                shares = [f"{held[key] / n_runs:.3f}" if key in held else "" for key in NAMES]
                print(f"| {name} | {n_items:,} | {width:.3f} | {' | '.join(shares)} |", flush=True)
    print(f"\none recall at a time, {n_runs} runs")
    for name, n_items in POINTWISE:
        for method in ("pointwise", "studentised", "asymptotic"):
            held = measure_pointwise(name, n_items, n_runs, method=method)
            print(
                name, n_items, method, {recall: round(count / n_runs, 3) for recall, count in held.items()}, flush=True
            )
    print(f"\ndifference of two systems, {n_runs // 4} runs")
    for shifts in ((1.5, 2.0), (3.0, 3.3)):
        held = measure_comparison(200, n_runs // 4, shifts=shifts)
        print(shifts, {name: round(count / (n_runs // 4), 3) for name, count in held.items()}, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure_real(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        main(*(int(value) for value in sys.argv[1:]))
