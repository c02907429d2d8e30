"""The tutorial runs as written, and what it says of labels and truth holds."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "tutorials" / "compare-systems.md"


def test_the_tutorial_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 8
    names: dict[str, object] = {"__name__": "tutorial"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - the page's own code
    printed = capsys.readouterr().out
    found = re.findall(r"([\d,]+) distinct.*?, (\d+) labels", printed)[0]
    distinct, together = (int(text.replace(",", "")) for text in found)
    alone = int(re.findall(r"(\d+) labels for one system alone", printed)[0])
    new = int(re.findall(r"(\d+) new labels", printed)[0])
    assert together < 2.5 * alone
    assert together < distinct / 5
    assert new < together / 3
    assert printed.count(" inside") >= 7
