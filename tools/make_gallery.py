"""Draw the pictures of docs/gallery.md, each from the code that the page shows beside it."""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
_STEP = re.compile(r"^```python\n(.*?)^```|^!\[[^\]]*\]\(pictures/([\w-]+\.png)\)", flags=re.MULTILINE | re.DOTALL)


def draw(page: Path) -> None:
    """Run the page's code; the axes that a block leaves are the picture after it."""
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for code, picture in _STEP.findall(page.read_text(encoding="utf-8")):
            if code:
                exec(code, names)  # noqa: S102 (the code of our own page)
                continue
            figure = names["axes"].get_figure(root=True)
            figure.savefig(DOCS / "pictures" / picture, dpi=90, bbox_inches="tight")
            print(picture)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["gallery.md"]:
        draw(DOCS / name)
