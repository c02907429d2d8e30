"""Every Python block of the pages about bands runs as written, top to bottom."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("how-to/is-b-better-than-a.md", "explanation/bands.md")


@pytest.mark.parametrize("page", PAGES)
def test_code_on_the_page_runs(page, tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), page, "exec"), {})  # noqa: S102
    plt.close("all")
    if "is-b-better" in page:
        assert "the second system from" in capsys.readouterr().out
        assert (tmp_path / "difference.png").exists()
