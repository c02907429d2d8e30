"""Options that the commands of `karat pool` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(help="The pool's folder.")]
Metric = Annotated[str, typer.Option(help="precision, recall or f1.")]
Confidence = Annotated[float | None, typer.Option("--confidence", help="Confidence level; the pool's if not given.")]
AnyDoc = Annotated[bool, typer.Option("--anydoc", help="Ignore provenance.")]
Relation = Annotated[
    list[str] | None, typer.Option("--relation", help="A column that makes up the relation; repeat it.")
]
