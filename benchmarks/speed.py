"""All speed benchmarks in one run, with one summary: best peer, physical limit, growth; written to the docs.

python -m benchmarks speed                            # modest sizes: a quarter of an hour on two free cores
python -m benchmarks speed --rows 1e8 --items 1e7     # an hour or more, and 10 GB of disk
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import bands, metrics, pool, scale, service_load
from benchmarks._summary import Line, as_markdown

PAGE = Path(__file__).parents[1] / "docs/explanation/speed.md"
BEGIN, END = "<!-- written by make bench-speed: begin -->\n", "<!-- written by make bench-speed: end -->\n"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="speed")
    parser.add_argument("--rows", type=float, default=1e7, help="scale: the largest table")
    parser.add_argument("--no-spark", action="store_false", dest="spark", help="scale: leave Spark out")
    parser.add_argument("--items", type=float, default=1e6, help="metrics and bands: the longest list")
    parser.add_argument("--systems", type=int, default=20, help="pool: how many")
    parser.add_argument("--predictions", type=float, default=1e5, help="pool: of each system")
    parser.add_argument("--people", type=int, default=20, help="service: how many at once")
    parser.add_argument("--seconds", type=float, default=15, help="service: how long")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the summary goes")
    options = parser.parse_args(arguments)
    parts: dict[str, Callable[[], list[Line]]] = {
        "scale": lambda: scale.measure(options.rows, spark=options.spark),
        "metrics": lambda: metrics.measure(int(options.items)),
        "bands": lambda: bands.measure_all(int(options.items)),
        "pool": lambda: pool.measure(options.systems, int(options.predictions)),
        "service": lambda: service_load.measure(options.people, options.seconds),
    }
    lines = []
    for name, measure in parts.items():
        print(f"\n{name}", flush=True)
        lines += measure()
    table = as_markdown(lines)
    print(f"\n{table}")
    given = f' ARGS="{" ".join(arguments)}"' if arguments else ""
    write_page(options.page, f"`make bench-speed{given}`, {_machine()}:\n\n{table}\n")


def write_page(page: Path, text: str) -> None:
    """Put the summary between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{page} has no place for the summary: it needs the lines {BEGIN!r} and {END!r}.")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(models)} cores ({models[0] if models else platform.machine()}), Python {platform.python_version()}"
