"""Gold questions: mixed in at the stated share, not to be told apart, never part of the curve unless drawn."""

from __future__ import annotations

import json

import pytest
from tests.service.cases.test_assignment import say, take

import karat
from karat.errors import InvalidInput
from karat.math.agreement.quality import quality_against
from karat.math.agreement.votes import Votes
from karat.service.campaign import Campaign
from karat.service.gold import read_questions
from karat.service.labels import read_labels
from karat.store import answers, gold


@pytest.fixture
def questions(tmp_path):
    """Return a table of 300 gold questions, every third of them true."""
    path = tmp_path / "gold.csv"
    lines = [f"g{n},gold thing {n},is smaller than,thing 200,{'yes' if n % 3 == 0 else 'no'}" for n in range(300)]
    path.write_text("\n".join(["id,subject,relation,object,truth", *lines]) + "\n")
    return path


def add(house, project, campaign, path):
    columns = house.gold.columns(project, campaign)
    questions = read_questions(path, truth="truth", id="id", columns=columns)
    return house.gold.add(project, campaign, questions, by=house.owner())


def work_through(house, project, campaign, user, answer):
    """Answer everything there is; return the tasks in the order they came."""
    came = []
    while tasks := take(house, project, campaign, user, 3):
        task = tasks[0]
        came.append(task)
        say(house, project, campaign, user, task.item_id, answer(task))
    return came


def test_gold_questions_come_at_the_stated_share_and_stay_out_of_the_curve(house, start, crowd, questions):
    """Of 400 items and their gold questions 30% are gold, within four standard errors; 23% would be another share."""
    project, campaign = start(gold_share=0.3, method=karat.Point(rank=400, labels=400))
    assert add(house, project, campaign, questions) == 300
    (user,) = crowd(project, 1)
    came = work_through(house, project, campaign, user, lambda task: "yes" if task.rank % 2 else "no")
    asked = [task for task in came if task.name.startswith("g")]
    share, error = len(asked) / len(came), (0.3 * 0.7 / len(came)) ** 0.5
    assert abs(share - 0.3) < 4 * error
    assert abs(0.3 / 1.3 - 0.3) > 2 * error  # the share as the chance for each item, instead of among all
    assert len({task.name for task in asked}) == len(asked)  # nobody is asked twice
    assert {tuple(task.payload) for task in came} == {("subject", "relation", "object")}
    design = house.studies.design(project)
    assert design.draw.n_ranks == len(came) - len(asked) == house.progress.summary(project, campaign)["labelled"]
    assert min(design.labels.ranks) > 0
    assert "g1" not in house.progress.labels_csv(project)
    lines = [line.split(",") for line in house.progress.ledger_csv(project).splitlines()[1:]]
    assert {line[3] == "" for line in lines if line[4].startswith("g")} == {True}  # a line in the ledger, and no rank
    assert all(json.loads(line)["rank"] > 0 for line in house.progress.items_jsonl(project).splitlines())
    with house.database.read() as connection:
        assert answers.count_votes(connection, project.id) == len(came)  # gold answers are paid too
    hand = house.assignment.next_tasks(project, campaign, user_id=user.id)
    assert hand.finished  # the gold that is left keeps nobody


def test_accuracy_on_gold_is_what_was_answered(house, start, crowd, questions):
    project, campaign = start(gold_share=0.5, votes=2, method=karat.Point(rank=60, labels=60))
    add(house, project, campaign, questions)
    careful, hasty = crowd(project, 2)
    right = {f"g{n}": "yes" if n % 3 == 0 else "no" for n in range(300)}
    came = work_through(house, project, campaign, careful, lambda task: right.get(task.name, "yes"))
    work_through(house, project, campaign, hasty, lambda _: "yes")
    found = {person["name"]: person["on_gold"] for person in house.progress.people(project, campaign)["annotators"]}
    asked = [task for task in came if task.is_gold]
    assert found[careful.name]["right"] == found[careful.name]["answers"] == len(asked) > 10
    assert found[hasty.name]["right"] < found[hasty.name]["answers"]
    votes = Votes.from_arrays(item=[t.name for t in asked], annotator=["c"] * len(asked), answer=[0] * len(asked))
    truth = {name: int(word == "yes") for name, word in right.items()}
    wrong = quality_against(votes, truth)  # the same questions, answered no throughout
    assert wrong.n_right[0] < found[careful.name]["right"]


def test_weighing_by_gold_trusts_those_who_know(house, start, crowd, questions):
    """Two who guess outvote one who knows; weighed by gold the one is believed."""
    labels = {}
    right = {f"g{n}": "yes" if n % 3 == 0 else "no" for n in range(300)}
    for rule in ("majority", "gold-weighted"):
        project, campaign = start(rule, rule=rule, gold_share=0.5, votes=3, method=karat.Point(rank=40, labels=40))
        add(house, project, campaign, questions)
        knows, *guess = crowd(project, 3)
        work_through(house, project, campaign, knows, lambda task: right.get(task.name, "yes"))
        for user in guess:  # as often right as wrong about gold, and wrong about every item
            work_through(house, project, campaign, user, lambda task: "yes" if task.is_gold and task.rank % 2 else "no")
        with house.database.read() as connection:
            labels[rule] = {row.label for row in read_labels(connection, project)}
    assert labels == {"majority": {0}, "gold-weighted": {1}}


def test_a_gold_question_that_is_drawn_keeps_its_answer_and_is_dealt_no_more(house, start, crowd, tmp_path):
    path = tmp_path / "gold.csv"
    lines = [f"f{n},thing {n},is smaller than,thing 200,{'no' if n <= 400 else 'yes'}" for n in range(1, 401)]
    path.write_text("\n".join(["id,subject,relation,object,truth", *lines]) + "\n")
    project, campaign = start(gold_share=0.2, method=karat.Certify(from_rank=50, pilot=20), ahead=20)
    with house.database.read() as connection:
        drawn_before = len(read_labels(connection, project))
    assert add(house, project, campaign, path) == 400 - drawn_before
    (user,) = crowd(project, 1)
    came = []
    for _ in range(120):
        for task in take(house, project, campaign, user, 1):
            came.append(task)
            say(house, project, campaign, user, task.item_id, "yes")
    dealt = {task.name for task in came if task.is_gold}
    drawn = {task.name for task in came if not task.is_gold}
    assert dealt
    assert len(drawn) > drawn_before
    with house.database.read() as connection:
        told = {row.rank: row.label for row in read_labels(connection, project) if row.label is not None}
    assert set(told.values()) == {0}  # whatever people say: its answer is known
    late = [task for place, task in enumerate(came) if task.is_gold and task.name in {t.name for t in came[:place]}]
    assert late == []


def test_what_was_not_answered_goes_back_and_is_not_asked_of_others_out_of_turn(house, start, crowd, questions):
    project, campaign = start(gold_share=0.5, method=karat.Point(rank=20, labels=20))
    add(house, project, campaign, questions)
    one, two = crowd(project, 2)
    held = take(house, project, campaign, one, 12)
    asked = [task for task in held if task.is_gold]
    assert asked
    house.assignment.skip(project, campaign, item_id=asked[0].item_id, request="s", user_id=one.id)
    house.assignment.undo(project, campaign, request="u", user_id=one.id)
    assert asked[0].item_id in {task.item_id for task in take(house, project, campaign, one, 12)}
    assert house.assignment.release(project, user_id=one.id) >= 12
    say(house, project, campaign, one, asked[0].item_id, "yes")  # an answer after leaving is kept
    with house.database.read() as connection:
        assert gold.count(connection, project.id) == 300
        assert answers.votes_on(connection, asked[0].item_id) == ["yes"]
    others = take(house, project, campaign, two, 20)
    assert len([task for task in others if not task.is_gold]) >= len([task for task in held if not task.is_gold])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,subject,relation,truth\na,b,c,yes\n", "'object'"),
        ("id,subject,relation,object,truth\na,b,c,d,perhaps\n", "gold.csv, row 1, column 'truth'"),
        ("id,subject,relation,object,truth\na,b,c,d,yes\na,b,c,d,unsure\n", "row 2"),
        ("id,subject,relation,object,truth\na,b,c,d,yes\na,b,c,d,no\n", "row 2, column 'id'"),
        ("id,subject,relation,object,truth\n", "empty"),
        (
            "id,subject,relation,object,truth\na,b,c,d,yes\nb,b,c, ,no\n",
            "gold.csv, row 2, column 'object': expected what",
        ),
        (
            "id,subject,relation,object,truth\na,,c,d,yes\n",
            "gold.csv, row 1, column 'subject': expected what people see",
        ),
    ],
)
def test_bad_tables_are_named_by_row_and_column(house, start, tmp_path, text, said):
    project, campaign = start(gold_share=0.1)
    path = tmp_path / "gold.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput) as refused:
        add(house, project, campaign, path)
    assert said in str(refused.value)


def test_what_items_may_lack_gold_questions_may_lack_too(house, tmp_path):
    """And no more: an empty field where no item has one would tell them apart."""
    rows = [f"{n},text {n},{'' if n % 7 == 0 else 'a hint'},{n}" for n in range(60)]
    (tmp_path / "facts.csv").write_text("\n".join(["id,text,hint,score", *rows]) + "\n")
    engine = karat.open(tmp_path / "facts.csv", score="score", id="id")
    campaign = Campaign(gold_share=0.1)
    method = karat.Point(rank=60, labels=60)
    project = house.create_project("Hints", engine, campaign, by=house.owner(), method=method)
    assert house.gold.sometimes_empty(project) == {"hint"}
    (tmp_path / "gold.csv").write_text("text,hint,truth\na text,,yes\n")
    given = {"truth": "truth", "id": None, "columns": ["text", "hint"]}
    found = read_questions(tmp_path / "gold.csv", **given, may_be_empty=house.gold.sometimes_empty(project))
    assert len(found) == 1
    with pytest.raises(InvalidInput, match="row 1, column 'hint'"):
        read_questions(tmp_path / "gold.csv", **given)


def test_spans_of_gold_questions_lie_inside_their_text(tmp_path):
    path = tmp_path / "gold.jsonl"
    rows = [{"text": "Ada wrote it.", "spans": [[0, 3]], "truth": 1}, {"text": "Ada", "spans": [[0, 30]], "truth": 0}]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    with pytest.raises(InvalidInput, match=r"gold.jsonl, row 2, column 'spans': expected spans inside the text"):
        read_questions(path, truth="truth", id=None, columns=["text", "spans"], template="spans")
    path.write_text(json.dumps(rows[0]) + "\n")
    assert len(read_questions(path, truth="truth", id=None, columns=["text", "spans"], template="spans")) == 1
