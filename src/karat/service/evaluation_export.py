"""What can be taken away from an evaluation: the labels with their probabilities, or the whole pool."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from karat.formats.formulas import neutralise

if TYPE_CHECKING:
    from karat.service.pools import Pools
    from karat.store.evaluations import EvaluationRow

_WORDS = {1: "1", 0: "0", -1: "unsure"}


def labels_csv(pools: Pools, row: EvaluationRow) -> str:
    """Return the labels, each with the probability that its unit was drawn, as `karat pool tell` reads them.

    The first line, which begins with #, says how they were drawn: seed, law, and each draw's systems and coefficients.
    A unit of mass m under a system is drawn with probability min(1, c m), c being "new" where no earlier system
    predicts it and "known" otherwise; of several systems drawn together, with the root of the sum of squares; of
    several draws the largest counts.
    """
    with pools.use(row) as pool:
        rows = pool.label_pool()
        payload = pool.items([each["id"] for each in rows])
        state = pool.state
        laws = {
            "seed": state.settings.seed,
            "law": state.settings.law,
            "relation": list(state.settings.relation),
            "draws": [{"systems": list(d.systems), "known": list(d.known), "new": list(d.new)} for d in state.draws],
        }
    shown = list(dict.fromkeys(name for each in payload.values() for name in each if name.lower() != "inclusion"))
    stream = io.StringIO()
    stream.write(f"# {json.dumps(laws)}\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["id", "label", "inclusion", *map(neutralise, shown)])
    for each in rows:
        said = payload.get(each["id"], {})
        writer.writerow([neutralise(each["id"]), _WORDS[each["label"]], repr(each["inclusion"]),
                         *(neutralise(said.get(name)) for name in shown)])  # fmt: skip
    return stream.getvalue()


def zip_pool(pools: Pools, row: EvaluationRow) -> Path:
    """Return a new archive of the pool's folder, without submissions that wait; whoever asked removes it."""
    with tempfile.NamedTemporaryFile(prefix="karat-pool-", suffix=".zip", delete=False) as target:
        path = Path(target.name)
    folder = pools.home / row.folder
    with pools.use(row), zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for part in sorted(folder.iterdir()):
            if part.name != "incoming" and not part.name.startswith("tmp-"):  # those come and go meanwhile
                for file in [part] if part.is_file() else sorted(part.rglob("*")):
                    if file.is_file():
                        archive.write(file, Path(row.folder) / file.relative_to(folder))
    return path
