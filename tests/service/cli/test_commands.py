"""init, export, backup, and settings: from an empty folder."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from karat.cli.main import main
from karat.errors import InvalidInput
from karat.service.assignment import Answer
from karat.service.installation import Installation
from karat.web.settings import Settings


@pytest.fixture
def here(tmp_path, monkeypatch, facts):
    monkeypatch.chdir(tmp_path)
    return facts


def init(facts, *more):
    return main(["init", str(facts), "--score", "score", "--id", "id", "--method", "point", "--rank", "400",
                 "--labels", "30", *more])  # fmt: skip


def test_init_label_export_curve(here, capsys):
    assert init(here, "--question", "True?", "--votes", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["project"] == "facts"
    house = Installation("karat.db")
    project = house.project("facts")
    campaign = house.campaign(project)
    assert (campaign.question, campaign.votes) == ("True?", 1)
    owner = house.owner()
    while tasks := house.assignment.next_tasks(project, campaign, user_id=owner.id, n=5).tasks:
        for task in tasks:
            word = "yes" if task.rank <= 200 else "no"
            house.assignment.answer(project, campaign, Answer(task.item_id, word, f"r{task.item_id}"), user_id=owner.id)
    shown = house.studies.curve(project).to_dict()
    house.close()
    assert main(["export", "facts", "-o", "out"]) == 0
    capsys.readouterr()
    assert main(["curve", "out/draw.json", "out/labels.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in shown} == json.loads(json.dumps(shown))
    assert (
        len(Path("out/items.jsonl").read_text().splitlines())
        == len(Path("out/ledger.csv").read_text().splitlines()) - 1
    )


def test_the_same_project_twice_is_refused(here, capsys):
    assert init(here) == 0
    assert init(here) == 1
    assert "already" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_a_bad_file_leaves_no_project(capsys, tmp_path):
    (tmp_path / "bad.csv").write_text("id,score\na,1\na,2\n")
    assert init(tmp_path / "bad.csv") == 1
    assert "row 2" in capsys.readouterr().err
    assert not Path("karat.db").exists()


def test_gold_questions_and_votes_from_the_command_line(here, capsys, tmp_path):
    (tmp_path / "gold.csv").write_text("id,subject,relation,object,label\nx,a,b,c,yes\ny,a,b,c,no\n")
    (tmp_path / "bad.csv").write_text("id,subject,relation,object,label\nx,a,b,c,perhaps\n")
    assert init(here, "--votes", "2", "--extra", "1", "--rule", "gold-weighted", "--gold", "bad.csv") == 1
    assert "bad.csv, row 1, column 'label'" in capsys.readouterr().err
    assert not Path("karat.db").exists()
    assert init(here, "--votes", "2", "--extra", "1", "--rule", "gold-weighted", "--gold", "gold.csv") == 0
    house = Installation("karat.db")
    project = house.project("facts")
    campaign = house.campaign(project)
    assert (campaign.extra, campaign.rule, campaign.gold_share) == (1, "gold-weighted", 0.1)
    assert house.progress.people(project, campaign)["gold_questions"] == 2
    house.close()


def test_backup_and_restore(here, capsys):
    init(here)
    assert main(["backup", "copy.db"]) == 0
    assert main(["backup", "copy.db"]) == 1
    assert main(["backup", "--restore", "copy.db"]) == 1
    assert main(["backup", "--restore", "copy.db", "--db", "again.db"]) == 0
    dumps = ["\n".join(sqlite3.connect(name).iterdump()) for name in ("karat.db", "copy.db", "again.db")]
    assert dumps[0] == dumps[1] == dumps[2]
    Path("junk.db").write_text("this is no database, but long enough to be looked at" * 100)
    capsys.readouterr()
    assert main(["backup", "--restore", "junk.db", "--db", "other.db"]) == 1
    assert "damaged" in capsys.readouterr().err
    assert main(["backup", "x.db", "--db", "nowhere.db"]) == 1


def test_export_of_nothing(here, capsys):
    init(here)
    assert main(["export", "nothing"]) == 1
    assert "no project" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "text", "word"),
    [
        ({"KARAT_PORT": "many"}, "", "port"),
        ({"KARAT_PORT": "70000"}, "", "port"),
        ({"KARAT_SECURE_COOKIES": "perhaps"}, "", "secure_cookies"),
        ({"KARAT_PUBLIC_URL": "example.org"}, "", "public_url"),
        ({}, "colour = 3", "colour"),
        ({}, "port = 'x'", "port"),
        ({}, "port = ", "TOML"),
    ],
)
def test_every_bad_setting_is_named(tmp_path, environment, text, word):
    file = tmp_path / "karat.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=word):
        Settings.read(environment=environment, file=file)


def test_settings_in_their_order(tmp_path):
    file = tmp_path / "karat.toml"
    file.write_text("port = 1\nhost = 'file'\ndb = 'file.db'\n")
    settings = Settings.read(environment={"KARAT_PORT": "2", "KARAT_HOST": "environment"}, file=file, port=3, db=None)
    assert (settings.port, settings.host, settings.db) == (3, "environment", "file.db")
