"""The report page as a browser shows it."""

from __future__ import annotations

import builders
import numpy as np
import pytest

import karat
from karat.report.page import render_report

N = 20_000


@pytest.fixture(scope="module")
def report():
    labels = builders.falling_rate(N, np.random.default_rng(4))
    curve, _ = karat.Certify(budget=600).replay(labels, seed=1)
    paula, _ = karat.Paula().replay(labels, seed=1)
    return render_report(curve, truth=labels, others=[paula], commands=["karat curve draw.json labels.csv " * 5])


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_a_report_needs_no_scrolling_sideways(report, open_page, width):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(viewport={"width": width, "height": 800})
    page.set_content(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("th", has_text="recall in the list").count() == 1
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        assert [f"{entry['id']}: {entry['nodes'][0]['html'][:120]}" for entry in found] == []
