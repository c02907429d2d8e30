"""A service that cannot start fails its test with what it said, not with a time-out somewhere in the browser."""

from __future__ import annotations

import socket

import pytest
from tests.service.browser.conftest import Server


def test_a_service_that_cannot_start_says_why(tmp_path):
    server = Server(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", server.port))
        taken.listen()
        (tmp_path / "karat.db").write_text("this is no database, but it is long enough to look like a file of one" * 20)
        with pytest.raises(pytest.fail.Exception, match=r"ended with 1; it said:\n.*karat.db"):
            server.start()
