"""`python -m benchmarks NAME [options]` runs one benchmark; without a name, those of speed with modest sizes."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks

NAMES = ("bands", "metrics", "pool", "scale", "service_load")


def main() -> None:
    name, *arguments = sys.argv[1:] or ("",)
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[0] != "_")
    if name and name not in known:
        sys.exit(f"There is no benchmark {name!r}; there are {', '.join(known)}.")
    for each in [name] if name else NAMES:
        print(f"\n{each}", flush=True)
        importlib.import_module(f"benchmarks.{each}").main(arguments)


main()
