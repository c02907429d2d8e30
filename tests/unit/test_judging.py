"""A judge over a whole resource: cost first, resumable after a kill, a column that certify takes as its proxy."""

from __future__ import annotations

import io
import json
import threading

import pandas as pd
import pytest
from chat_server import ChatServer, item_of

from karat.cli.main import main
from karat.judges import chat

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(chat, "_LONGEST_WAIT", 0.01)


@pytest.fixture
def server():
    made = ChatServer(lambda messages: "90" if int(item_of(messages)["number"]) % 2 else "5 %")
    yield made
    made.close()


@pytest.fixture
def here(tmp_path, monkeypatch, server):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(
        {"id": [f"i{n}" for n in range(60)], "number": range(60), "score": [1 - n / 60 for n in range(60)]}
    )
    frame.iloc[:25].to_csv("a1.csv", index=False)
    frame.iloc[25:].to_csv("a2.csv", index=False)
    (tmp_path / "judges.toml").write_text(
        f"[small]\nurl = '{server.url}'\nmodel = 'm'\nprice = 0.02\ncurrency = 'EUR'\ntries = 2\nat_once = 3\n"
    )
    return frame


def judge(*more):
    return main(["judge", "resource", "a*.csv", "--judge", "small", "--judges", "judges.toml", "--hide", "score",
                 "-o", "judged.parquet", "--json", *more])  # fmt: skip


def test_the_whole_way_to_certify(here, server, capsys, tmp_path):
    server.script = ["pause"]  # so that others come meanwhile
    three, answer = threading.Barrier(3), server.reply

    def reply(messages):
        three.wait(60)  # as many calls at once as the settings say, no fewer
        return answer(messages)

    server.reply = reply
    assert judge("--yes") == 0
    out, err = capsys.readouterr()
    assert "60 of 60 items to judge, 60 calls at 0.02 each: 1.20 EUR." in err
    assert json.loads(out) == {"output": "judged.parquet", "items": 60, "calls": 60, "unclear": 0, "cost": 1.2}
    found = pd.read_parquet("judged.parquet")
    assert list(found["id"]) == list(here["id"])
    assert list(found["small"]) == [0.9 if n % 2 else 0.05 for n in range(60)]
    assert all(set(item_of(request["messages"])) == {"id", "number"} for request in server.requests)
    assert server.most_at_once == 3
    assert not (tmp_path / "judged.parquet.journal").exists()
    assert main(["draw", "judged.parquet", "--score", "score", "--id", "id", "--proxy", "small", "--from-rank", "20",
                 "-o", "draw.json"]) == 0  # fmt: skip


def test_nothing_is_spent_before_the_cost_is_agreed_to(server, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert judge() == 1
    assert "1.20 EUR" in capsys.readouterr().err
    assert server.requests == []


def test_a_run_that_was_stopped_goes_on(server, capsys, tmp_path):
    server.script = [None] * 30 + [500] * 1000
    assert judge("--yes") == 1
    said = capsys.readouterr().err
    assert "20 rows in a row without an answer" in said
    journal = tmp_path / "judged.parquet.journal"
    kept = len(journal.read_text().splitlines()) - 1
    assert 25 <= kept <= 30
    with journal.open("a") as stream:
        stream.write("[59, 0.")  # killed while it wrote
    server.script.clear()
    before = len(server.requests)
    assert judge("--yes") == 0
    assert len(server.requests) - before == 60 - kept
    assert f"{60 - kept} of 60 items to judge" in capsys.readouterr().err
    assert list(pd.read_parquet("judged.parquet")["small"]) == [0.9 if n % 2 else 0.05 for n in range(60)]


def test_a_few_failures_are_left_for_the_next_run(server, capsys):
    server.script = [500, 500, 500, 500, 500, 500]
    assert judge("--yes") == 1
    assert "items are without an answer" in capsys.readouterr().err
    assert judge("--yes") == 0


def test_unclear_replies_count_as_one_half(server, capsys):
    server.reply = lambda _: "I would rather not say"
    assert judge("--yes") == 0
    assert json.loads(capsys.readouterr().out)["unclear"] == 60
    assert set(pd.read_parquet("judged.parquet")["small"]) == {0.5}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--judge", "other"], "'--judge' must be one of 'small'"),
        (["--column", "score"], "a name that the resource has not yet"),
        (["--field", "nothing"], "has no column 'nothing'"),
        (["--judges", "none.toml"], "none.toml cannot be read"),
    ],
)
def test_refusals(server, capsys, more, said):
    assert judge("--yes", *more) == 1
    assert said in capsys.readouterr().err
    assert server.requests == []


def test_another_job_does_not_take_over_a_journal(server, capsys):
    server.script = [500, 500, 500, 500]
    assert judge("--yes") == 1
    capsys.readouterr()
    assert judge("--yes", "--question", "Another?") == 1
    assert "of another job: its 'question' is 'Is this right?'" in capsys.readouterr().err
