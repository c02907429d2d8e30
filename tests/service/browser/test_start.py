"""A service that cannot start fails its test with what it said, not with a time-out somewhere in the browser."""

from __future__ import annotations

import pytest
from tests.service.browser.conftest import Server


def test_a_service_that_cannot_start_says_why(tmp_path):
    (tmp_path / "karat.db").write_text("no database, but long enough to look like the file of one" * 20)
    with pytest.raises(pytest.fail.Exception, match=r"ended with 1; it said:\n.*file is not a database"):
        Server(tmp_path).start()
