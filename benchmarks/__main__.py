"""`python -m benchmarks NAME [options]` runs one benchmark; without a name, all with modest sizes."""

from __future__ import annotations

import importlib
import sys

NAMES = ("bands", "metrics", "pool", "scale", "service_load")
OTHERS = ("speed", "labels")


def main() -> None:
    name, *arguments = sys.argv[1:] or ("",)
    if name and name not in {*NAMES, *OTHERS}:
        sys.exit(f"There is no benchmark {name!r}; there are {', '.join((*NAMES, *OTHERS))}.")
    for each in [name] if name else NAMES:
        print(f"\n{each}", flush=True)
        importlib.import_module(f"benchmarks.{each}").main(arguments)


main()
