"""Answers from elsewhere: kept by annotator, idempotent, all or nothing, on both databases."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

import karat
from karat.errors import InvalidData
from karat.formats import argilla, label_studio, mturk, plain, prodigy
from karat.formats.exchange import Answer
from karat.service import imports
from karat.service.campaign import Option
from karat.service.imports import Imported
from karat.service.problems import NotAllowed
from karat.store import people, schema


def table(*rows, head="id,annotator,label"):
    return io.StringIO("\n".join([head, *rows]) + "\n")


def names_of(house, n=None):
    with house.database.read() as connection:
        found = connection.scalars(select(schema.items.c.name).order_by(schema.items.c.id)).all()
    return found[:n]


def read(house, project, campaign, source, format="csv", **options):
    return house.imports.read(project, campaign, source, format=format, by=house.owner().id, **options)


def state(house):
    """Return everything that an import could change."""
    with house.database.read() as connection:
        return {
            name: connection.execute(select(schema.metadata.tables[name])).all()
            for name in ("users", "ledger", "votes", "slots", "items", "audit")
        }


def test_votes_become_labels(start, house):
    project, campaign = start(votes=2)
    a, b, c = names_of(house, 3)
    source = table(f"{a},ann,yes", f"{a},Bob Smith,no", f"{b},ann,yes", f"{b},Bob Smith,yes", f"{c},ann,unsure")
    assert read(house, project, campaign, source) == Imported(5, 0, 0, ["Bob Smith", "ann"])
    with house.database.read() as connection:
        labels = dict(connection.execute(select(schema.items.c.name, schema.items.c.label)).all())
        users = connection.scalars(select(schema.users.c.name).where(schema.users.c.kind == "imported")).all()
        states = connection.execute(select(schema.slots.c.state, func.count()).group_by(schema.slots.c.state)).all()
    assert (labels[a], labels[b], labels[c]) == (-1, 1, None)
    assert sorted(users) == ["Bob Smith (imported)", "ann (imported)"]
    assert dict(tuple(row) for row in states)["answered"] == 5
    assert house.progress.summary(project, campaign)["answers"] == 5
    owner = house.owner().id
    held = house.assignment.next_tasks(project, campaign, user_id=owner, n=20).tasks
    assert {task.name for task in held}.isdisjoint({a, b})  # they have their votes


def test_the_same_file_twice_changes_nothing_and_a_changed_answer_is_a_new_line(start, house):
    project, campaign = start()
    a, b = names_of(house, 2)
    rows = [f"{a},ann,yes,looked it up,2.5,2026-01-31T12:00Z", f"{b},ann,no,,,"]
    head = "id,annotator,label,note,seconds,time"
    assert read(house, project, campaign, table(*rows, head=head))[:3] == (2, 0, 0)
    before = state(house)
    assert read(house, project, campaign, table(*rows, head=head))[:3] == (0, 0, 2)
    assert state(house) == before
    assert read(house, project, campaign, table(f"{a},ann,no", f"{b},ann,no"))[:3] == (0, 1, 1)
    assert read(house, project, campaign, table(*rows, head=head))[:3] == (0, 1, 1)
    after = state(house)
    assert len(after["ledger"]) == len(before["ledger"]) + 2
    assert {row.label for row in after["items"] if row.name == a} == {1}
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()
    assert next((row.at, row.seconds, row.note) for row in before["ledger"]) == (moment, 2.5, "looked it up")
    assert len(after["slots"]) == len(before["slots"])


def test_nothing_is_half_imported(start, house):
    project, campaign = start()
    a, b = names_of(house, 2)
    before = state(house)
    source = table(f"{a},ann,yes", "stranger,ann,yes", f"{b},ann,perhaps", f"{b},{'x' * 60},yes", f"{b},ann,no")
    with pytest.raises(InvalidData) as caught:
        read(house, project, campaign, source)
    assert [(defect.line, defect.message.split("expected ")[1]) for defect in caught.value.defects] == [
        (3, "an item of the project; got 'stranger'."),
        (4, "an answer such as 1, 0, yes, no or unsure; got 'perhaps'."),
        (5, f"a name of at most 53 characters; got {'x' * 60!r}."),
    ]
    assert state(house) == before


def test_too_many_answers_are_refused(start, house, monkeypatch):
    monkeypatch.setattr(imports, "MOST_ANSWERS", 3)
    project, campaign = start()
    names = names_of(house, 5)
    with pytest.raises(InvalidData, match="line 5: expected at most 3 answers in one file"):
        read(house, project, campaign, table(*(f"{name},ann,yes" for name in names)))


def test_a_closed_project_takes_none(start, house):
    project, campaign = start()
    project = house.change_project(project, {}, by=house.owner(), state="closed")
    with pytest.raises(NotAllowed):
        read(house, project, campaign, table())


def test_words_of_the_project_and_of_the_file(start, house):
    options = (Option(value="sound", label="Sound", key="1", meaning="positive"),
               Option(value="broken", label="Broken", key="2", meaning="negative"))  # fmt: skip
    project, campaign = start(options=options)
    a, b, c = names_of(house, 3)
    source = table(f"{a},ann,sound", f"{b},ann,Broken", f"{c},ann,rubbish")
    with pytest.raises(
        InvalidData, match=r"line 4.*expected one of 'sound', 'Sound', 'broken', 'Broken'; got 'rubbish'"
    ):
        read(house, project, campaign, source)
    source.seek(0)
    assert read(house, project, campaign, source, meanings={"rubbish": "negative"}).new == 3
    assert sorted(vote.value for vote in state(house)["votes"]) == ["broken", "broken", "sound"]


@pytest.mark.parametrize("format", ["label-studio", "argilla", "prodigy", "mturk", "csv", "tsv", "jsonl", "parquet"])
def test_every_format(start, house, tmp_path, format):
    module = {"label-studio": label_studio, "argilla": argilla, "prodigy": prodigy, "mturk": mturk}.get(format, plain)
    project, campaign = start(votes=2)
    given = [Answer(item=name, annotator=who, value=value)
             for name, value in zip(names_of(house, 6), [1, 0, 1, 0, -1, 1], strict=True)
             for who in ("7", "bob@example.org")]  # fmt: skip
    path = tmp_path / f"answers.{format if module is plain else 'txt'}"
    module.export_tasks([], path, answers=given)
    assert read(house, project, campaign, path, format) == Imported(12, 0, 0, ["7", "bob@example.org"])
    summary = house.progress.summary(project, campaign)
    assert (summary["labelled"], summary["unsure"]) == (5, 1)


def test_an_imported_name_is_never_taken_for_a_person(start, house):
    project, campaign = start()
    person = house.add_user("ann")
    read(house, project, campaign, table(f"{names_of(house)[0]},ann,yes"))
    with house.database.read() as connection:
        found = people.find_user(connection, name="ann (imported)")
    assert found is not None
    assert (found.kind, found.password_hash, found.id == person.id) == ("imported", None, False)
    with pytest.raises(karat.InvalidInput, match="without spaces"):
        house.add_user("ann (imported)")


def test_imports_while_people_work(start, house, crowd):
    """Slots of an import and of people who answer at the same time: everybody's vote counts, none twice."""
    import threading

    project, campaign = start(votes=3)
    users = crowd(project, 2)
    names = names_of(house)
    errors = []

    def answer(user):
        from karat.service.assignment import Answer as Mine

        try:
            while tasks := house.assignment.next_tasks(project, campaign, user_id=user.id, n=2).tasks:
                for task in tasks:
                    given = Mine(task.item_id, "yes", request=f"r{task.item_id}")
                    house.assignment.answer(project, campaign, given, user_id=user.id)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=answer, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for part in range(0, len(names), 5):
        rows = [f"{name},ann,yes" for name in names[part : part + 5]]
        read(house, project, campaign, table(*rows))
    for thread in threads:
        thread.join()
    assert errors == []
    found = state(house)
    assert len(found["votes"]) == 3 * len(names)
    assert {row.state for row in found["slots"]} == {"answered"}
    assert len(found["slots"]) == 3 * len(names)
    assert {row.label for row in found["items"]} == {1}
