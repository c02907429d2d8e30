"""From SQLite to PostgreSQL and back: everything is there, people go on where they were, nothing is half done."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, text
from tests.service.cases.test_assignment import say, take

from karat.cli.main import main
from karat.errors import InvalidData, InvalidInput
from karat.service.assignment import Answer
from karat.service.installation import Installation
from karat.store import desk, schema, transfer
from karat.store.database import Database
from karat.store.gold import Question
from karat.store.transfer import checksum, copy_all
from karat.store.upgrade import upgrade


@pytest.fixture
def database_url(tmp_path):
    return str(tmp_path / "karat.db")


@pytest.fixture
def project(house, start, crowd):
    """Return a campaign with something in every table that people fill: votes, skips, undone answers, rulings, gold."""
    project, campaign = start(votes=2, gold_share=0.3)
    questions = [Question(f"g{n}", n % 2, {"subject": "s", "relation": "r", "object": "ö 😀"}) for n in range(20)]
    house.gold.add(project, campaign, questions, by=house.owner())
    for user in crowd(project, 3):
        for number in range(6):
            task = take(house, project, campaign, user, 2)[0]
            say(house, project, campaign, user, task.item_id, ("yes", "no", "unsure")[(number + user.id) % 3])
        house.assignment.undo(project, campaign, request="take back", user_id=user.id)
        task = take(house, project, campaign, user, 2)[0]
        house.assignment.skip(project, campaign, item_id=task.item_id, request="skip", user_id=user.id)
    voted = house.assignment.history(project, user_id=user.id)[-1]
    given = {"item_id": voted["item_id"], "value": "yes", "request": "rule"}
    house.adjudication.rule(project, campaign, **given, user_id=house.owner().id)
    house.access.make_token(house.owner().id, name="t", scopes=["read"])
    return project, campaign


def contents(url):
    database = Database(url)
    with database.read() as connection:
        found = {table.name: checksum(connection, table) for table in schema.metadata.sorted_tables}
    database.close()
    return found


@pytest.mark.usefixtures("project")
def test_to_postgres_and_back(postgres_url, tmp_path, capsys):
    source, copy, back = tmp_path / "karat.db", tmp_path / "copy.db", tmp_path / "back.db"
    before = contents(source)
    filled = {name for name, (_, count) in before.items() if count}
    assert {"ledger", "votes", "skips", "slots", "handouts", "adjudications", "audit", "tokens", "batches"} <= filled
    assert main(["backup", str(copy), "--db", str(source)]) == 0
    assert main(["backup", "--restore", str(copy), "--db", postgres_url]) == 0
    assert contents(postgres_url) == before
    assert main(["backup", str(back), "--db", postgres_url]) == 0
    assert contents(back) == before
    assert {path.name for path in tmp_path.glob("back*")} == {"back.db"}
    if password := Database(postgres_url).url.password:
        assert password not in capsys.readouterr().out


def test_people_go_on_where_they_were(house, project, postgres_url, clock):
    """The same items in their hands, new lines get new numbers, and the curve is the same."""
    moved = Installation(postgres_url, clock=clock)
    copy_all(house.database, moved.database)
    before, campaign = project
    after = moved.project(before.slug)
    user_id = house.owner().id + 1
    held = held_by(house, before, user_id)
    assert held_by(moved, after, user_id) == held != []
    assert moved.studies.curve(after).to_dict() == house.studies.curve(before).to_dict()
    with moved.database.read() as connection:
        lines = set(connection.scalars(select(schema.ledger.c.id)))
    event = moved.assignment.answer(after, campaign, Answer(held[0], "yes", request="after"), user_id=user_id)
    assert event.id == max(lines) + 1
    moved.close()


def held_by(house, project, user_id):
    with house.database.read() as connection:
        return [task.item_id for task in desk.held(connection, project.id, user_id)]


@pytest.mark.usefixtures("project")
def test_only_an_empty_database_is_filled(house, postgres_url):
    target = Installation(postgres_url)
    target.owner()
    with pytest.raises(InvalidInput, match="must be empty; its table 'users' is not"):
        copy_all(house.database, target.database)
    target.close()


@pytest.mark.usefixtures("project")
def test_what_is_not_copied_right_is_not_there_at_all(house, postgres_url):
    """A row that changes on the way is noticed, and nothing stays behind."""
    target = Database(postgres_url)
    upgrade(target)
    with target.write() as connection:
        connection.execute(text(
            "CREATE FUNCTION spoil() RETURNS trigger AS $$ BEGIN NEW.value := 'no'; RETURN NEW; END $$ LANGUAGE plpgsql"
        ))  # fmt: skip
        connection.execute(text("CREATE TRIGGER spoil BEFORE INSERT ON votes FOR EACH ROW EXECUTE FUNCTION spoil()"))
    with pytest.raises(InvalidData, match="'votes' was not copied right; nothing was written"):
        copy_all(house.database, target)
    with target.read() as connection:
        assert connection.execute(select(schema.users)).first() is None
    target.close()


def test_a_database_of_another_karat_is_named(house, postgres_url):
    with house.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    target = Database(postgres_url)
    with pytest.raises(InvalidInput, match=r"karat.db has the schema 0001 of another karat"):
        copy_all(house.database, target)
    target.close()


def test_pages_put_together_are_the_table(house, monkeypatch):
    rows = [{"name": f"u{n}", "is_admin": False, "created_at": float(n)} for n in range(25)]
    with house.database.write() as connection:
        connection.execute(insert(schema.users), rows)
        whole = checksum(connection, schema.users)
        monkeypatch.setattr(transfer, "_AT_ONCE", 7)
        assert checksum(connection, schema.users) == whole
        assert whole[1] == 25
