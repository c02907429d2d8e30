"""An evaluation from submission to leaderboard: what is kept, what is refused, and the same numbers everywhere."""

from __future__ import annotations

import json

import pytest

from karat.cli.main import main
from karat.demo.relations import PREDICATES, make_corpus, make_systems
from karat.documents.relations import check_relations, instance_id
from karat.errors import InvalidData, InvalidInput
from karat.pool import Pool
from karat.service.assignment import Answer
from karat.service.evaluation_task import EvaluationTask, campaign_for
from karat.service.problems import Conflict, NotAllowed
from karat.service.submissions import MOST_WAITING, cost_of
from karat.store import evaluations as rows


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(60, seed=4)


@pytest.fixture(scope="module")
def systems(corpus):
    return make_systems(corpus, 3, seed=4)


@pytest.fixture
def shared(house, corpus):
    """Return an evaluation of relations, with one vote an item."""
    task = EvaluationTask(kind="relations", predicates=PREDICATES)
    campaign = campaign_for(task, votes=1, price=0.05, currency="EUR")
    slug = house.evaluations.create("Relations", campaign, task, by=house.owner(), documents=corpus.documents,
                                    half_width=0.12, seed=3)  # fmt: skip
    return house.project(slug), campaign


def write(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def submit(house, project, name, lines, tmp_path, by=None):
    path = write(tmp_path / f"{name}.jsonl", lines)
    return house.submissions.submit(project, name, path, by=by or house.owner(), name=path.name)


def answer_all(house, project, campaign, corpus, *, unsure=()):
    """Answer truthfully until nothing is asked; return how many answers that took."""
    user, n = house.owner().id, 0
    with house.pools.use(house.evaluations.row(project)) as pool:
        pass
    while tasks := house.assignment.next_tasks(project, campaign, user_id=user, n=20).tasks:
        for task in tasks:
            value = "unsure" if task.name in unsure else "yes" if corpus.truth[task.name] else "no"
            house.assignment.answer(project, campaign, Answer(task.item_id, value, f"r{task.item_id}"), user_id=user)
            n += 1
    assert pool.folder.is_dir()
    return n


def test_what_somebody_else_laid_out_meanwhile_is_handed_out(house, shared, corpus, systems, tmp_path, monkeypatch):
    """Between finding nothing and asking the pool for more, the request before may have asked it already."""
    project, campaign = shared
    found = submit(house, project, "s", systems["system-01"], tmp_path)
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    replenish, laid_out = house.feeds.replenish, []

    def come_too_late(*given):
        laid_out.append(replenish(*given))
        return replenish(*given)

    monkeypatch.setattr(house.feeds, "replenish", come_too_late)
    answer_all(house, project, campaign, corpus)
    assert any(laid_out)  # there was a second draw
    assert house.evaluations.is_done(project)


def test_from_submission_to_leaderboard_and_the_same_numbers_from_the_folder(
    house, shared, corpus, systems, tmp_path, capsys
):
    project, campaign = shared
    accepted = {}
    for name, lines in systems.items():
        found = submit(house, project, name, lines, tmp_path)
        assert found.state == "checked"
        assert found.n_predictions == len(lines)
        assert 0 < found.first_labels <= found.most_labels <= len(lines)
        accepted[name] = house.submissions.accept(project, campaign, found.id, by=house.owner())
        assert accepted[name].version == 1
    before = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert before["rows"] == []
    n = answer_all(house, project, campaign, corpus)
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert {row["system"] for row in board["rows"]} == set(systems)
    for row in board["rows"]:
        truths = [corpus.truth[instance_id(line)] for line in systems[row["system"]]]
        assert abs(row["precision"]["estimate"] - sum(truths) / len(truths)) < 0.15
    assert n == board["n_labels"] < sum(corpus.truth[instance_id(line)] >= 0 for s in systems.values() for line in s)
    folder = house.pools.home / house.evaluations.row(project).folder
    assert main(["pool", "scores", str(folder), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {key: value for key, value in board.items() if key not in {"hidden", "doubt"}}
    assert board["doubt"].startswith("Labels are taken for right, and scores speak of the labels as given: ")
    assert house.feeds.is_done(project)
    described = house.evaluations.describe(project, campaign)
    spent = house.spending.so_far(house.evaluations.row(project), campaign)
    assert (spent.in_all, spent.reading) == (pytest.approx(0.05 * n), 0)
    assert described["labelled"] == n


def test_people_see_the_sentence_in_its_document(house, shared, corpus, systems, tmp_path):
    project, campaign = shared
    texts = {document.name: document.text for document in corpus.documents}
    found = submit(house, project, "one", systems["system-01"], tmp_path)
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    hand = house.assignment.next_tasks(project, campaign, user_id=house.owner().id, n=20)
    assert hand.tasks
    by_id = {instance_id(line): line for line in systems["system-01"]}
    for task in hand.tasks:
        line, shown = by_id[task.name], task.payload
        for end in ("subject", "object"):
            assert shown["text"][shown[end]["start"] : shown[end]["end"]] == line[f"{end}_mention"]
            assert shown[end]["link"] == line[f"{end}_link"]
        low, high = shown["sentence"]
        assert shown["text"][low:high] in texts[line["document"]]
        assert low <= shown["subject"]["start"] < high
        assert shown["predicate"] == PREDICATES[line["predicate"]]
        assert "score" not in shown


def test_a_withdrawn_answer_counts_as_unsure_until_it_is_given_anew(house, shared, corpus, systems, tmp_path):
    project, campaign = shared
    found = submit(house, project, "one", systems["system-03"], tmp_path)
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    answer_all(house, project, campaign, corpus)
    row = house.evaluations.row(project)
    with house.pools.use(row) as pool:
        whole = dict(pool.state.labels)
    house.assignment.undo(project, campaign, request="undo", user_id=house.owner().id)
    with house.pools.use(row) as pool:
        changed = {name: label for name, label in pool.state.labels.items() if whole[name] != label}
    assert list(changed.values()) == [-1]
    (task,) = house.assignment.next_tasks(project, campaign, user_id=house.owner().id).tasks
    assert task.name in changed
    value = "yes" if whole[task.name] else "no"
    house.assignment.answer(project, campaign, Answer(task.item_id, value, "again"), user_id=house.owner().id)
    with house.pools.use(row) as pool:
        assert pool.state.labels == whole


def test_scores_are_private_until_published(house, shared, corpus, systems, tmp_path):
    project, campaign = shared
    team, other = house.add_user("team"), house.add_user("other")
    for user, name in ((team, "system-01"), (other, "system-02")):
        found = submit(house, project, name, systems[name], tmp_path, by=user)
        house.submissions.accept(project, campaign, found.id, by=house.owner())
    every_third = [instance_id(line) for name in ("system-01", "system-02") for line in systems[name]][::3]
    answer_all(house, project, campaign, corpus, unsure=every_third)
    everything = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert {row["system"] for row in everything["rows"] if row["missed"]} == {"system-01", "system-02"}
    mine = house.evaluations.leaderboard(project, metric="f1", for_user=team)
    assert mine["notes"]
    assert "system-02" not in json.dumps(mine)
    assert [(row["system"], row["rank"]) for row in mine["rows"]] == [("system-01", None)]
    assert mine["hidden"] == 1
    with pytest.raises(Conflict, match="belongs to somebody else"):
        submit(house, project, "system-02", systems["system-01"], tmp_path, by=team)
    house.evaluations.publish(project, audience="members", by=house.owner())
    assert len(house.evaluations.leaderboard(project, metric="f1", for_user=team)["rows"]) == 2
    house.evaluations.publish(project, audience="nobody", by=house.owner())
    assert len(house.evaluations.leaderboard(project, metric="f1", for_user=other)["rows"]) == 1


def test_resubmission_replaces_and_retraction_keeps_the_labels(house, shared, corpus, systems, tmp_path):
    project, campaign = shared
    for name in ("system-01", "system-02"):
        found = submit(house, project, name, systems[name], tmp_path)
        house.submissions.accept(project, campaign, found.id, by=house.owner())
    answer_all(house, project, campaign, corpus)
    again = submit(house, project, "system-01", systems["system-03"], tmp_path)
    newest = submit(house, project, "system-01", systems["system-03"], tmp_path)
    with pytest.raises(Conflict, match="submitted again"):
        house.submissions.accept(project, campaign, again.id, by=house.owner())
    assert house.submissions.accept(project, campaign, newest.id, by=house.owner()).version == 2
    answer_all(house, project, campaign, corpus)
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert {row["system"]: row["version"] for row in board["rows"]} == {"system-01": 2, "system-02": 1}
    labels = board["n_labels"]
    house.submissions.retract(project, newest.id, by=house.owner())
    house.submissions.retract(project, again.id, by=house.owner())
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert [row["system"] for row in board["rows"]] == ["system-02"]
    assert board["n_labels"] == labels
    with pytest.raises(Conflict, match="retracted"):
        house.submissions.accept(project, campaign, newest.id, by=house.owner())
    assert list(house.pools.incoming(house.evaluations.row(project)).iterdir()) == []


def test_what_a_newer_version_replaced_never_comes_back(house, shared, systems, tmp_path):
    """A version that waits gives way to any newer one, an accepted one only to a newer accepted one."""
    project, campaign = shared
    row = house.evaluations.row(project)

    def states():
        return [each.state for each in house.submissions.list(project)]

    def send(name):
        return submit(house, project, name, systems["system-01"], tmp_path)

    old, new = send("s"), send("s")
    other = send("other")
    assert states() == ["replaced", "checked", "checked"]
    assert {path.stem for path in house.pools.incoming(row).iterdir()} == {str(new.id), str(other.id)}
    house.submissions.retract(project, new.id, by=house.owner())
    assert states() == ["replaced", "retracted", "checked"]
    with pytest.raises(Conflict, match="submitted again since"):
        house.submissions.accept(project, campaign, old.id, by=house.owner())
    house.submissions.retract(project, old.id, by=house.owner())
    assert states()[0] == "replaced"

    first = house.submissions.accept(project, campaign, send("s").id, by=house.owner())
    house.submissions.retract(project, send("s").id, by=house.owner())
    assert states()[3:] == ["accepted", "retracted"]  # a version that was never accepted replaced nothing
    second = house.submissions.accept(project, campaign, send("s").id, by=house.owner())
    assert states()[3:] == ["replaced", "retracted", "accepted"]
    house.submissions.retract(project, first.id, by=house.owner())  # nothing is left of it to take back
    with house.pools.use(row) as pool:
        assert [(system.name, system.version) for system in pool.systems] == [("s", second.version)]
    house.submissions.retract(project, second.id, by=house.owner())
    assert states()[3:] == ["replaced", "retracted", "retracted"]
    with pytest.raises(Conflict, match="submitted again since"):
        house.submissions.accept(project, campaign, first.id, by=house.owner())


def bad_lines(corpus):
    line = next(row for row in corpus.candidates if row["subject"].startswith("Zoë") and row["subject_start"] < 60)
    text = next(document.text for document in corpus.documents if document.name == line["document"])
    in_bytes = {**line}
    for end in ("subject", "object"):
        for side in ("start", "end"):
            in_bytes[f"{end}_{side}"] = len(text[: line[f"{end}_{side}"]].encode())
    return {
        "unknown document": ({**line, "document": "nowhere"}, "there is no document 'nowhere'"),
        "outside": ({**line, "subject_end": 99_999}, "are not in the document, which has"),
        "bytes": (in_bytes, "the offsets seem to count bytes, not characters"),
        "other text": ({**line, "object_mention": "Nobody"}, "object characters .* read .*, not 'Nobody'"),
        "backwards": ({**line, "subject_start": line["subject_end"]}, "hold nothing: the end must be greater"),
        "duplicate": (corpus.candidates[0], "the same instance stands already in line 1"),
        "predicate": ({**line, "predicate": "eats"}, "'predicate' must be one of birthplace, employer, seat"),
        "stray column": ({**line, "extra": 1}, "'extra' is unknown"),
        "missing column": ({k: v for k, v in line.items() if k != "object"}, "'object' is missing"),
        "no number": ({**line, "subject_start": "3.5"}, "'subject_start' must be a whole number"),
        "score": ({**line, "score": "high"}, "'score' must be a finite number"),
        "empty": ({**line, "subject": " "}, "'subject' must be text"),
    }


@pytest.mark.parametrize("case", bad_lines(make_corpus(60, seed=4)))
def test_bad_submissions_are_refused_by_line_and_nothing_is_stored(house, shared, corpus, tmp_path, case):
    project, _ = shared
    bad, message = bad_lines(corpus)[case]
    good = [row for row in corpus.candidates if row is not bad][:2]
    folder = house.pools.home / house.evaluations.row(project).folder
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    path = write(tmp_path / "mine.jsonl", [corpus.candidates[0], good[1], bad])
    with pytest.raises(InvalidData, match=f"^mine.jsonl, line 3: .*{message}"):
        house.submissions.submit(project, "mine", path, by=house.owner(), name="mine.jsonl")
    assert house.submissions.list(project) == []
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    with house.database.read() as connection:
        assert rows.list_submissions(connection, project.id) == []


def test_a_wrong_encoding_is_named(house, shared, corpus, tmp_path):
    project, _ = shared
    path = write(tmp_path / "latin.jsonl", corpus.candidates[:40])
    path.write_bytes(path.read_text().encode("latin-1", "replace"))
    with pytest.raises(InvalidData, match=r"latin.jsonl, line \d+: .*UTF-8"):
        house.submissions.submit(project, "latin", path, by=house.owner(), name=path.name)


def test_items_of_any_kind(house, tmp_path):
    """Without documents a submission is a table with an id; its columns are what people see."""
    task = EvaluationTask()
    campaign = campaign_for(task, votes=2)
    project = house.project(house.evaluations.create("Things", campaign, task, by=house.owner(), half_width=0.15))
    path = tmp_path / "things.csv"
    path.write_text("id,phrase,score\n" + "".join(f"x{k},thing {k},{k / 80}\n" for k in range(80)))
    found = house.submissions.submit(project, "a", path, by=house.owner(), name="things.csv")
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    hand = house.assignment.next_tasks(project, campaign, user_id=house.owner().id, n=1)
    assert hand.tasks[0].payload == {"phrase": f"thing {hand.tasks[0].name[1:]}"}
    assert cost_of(campaign, 10).answers == 20
    house.change_project(project, {}, by=house.owner(), state="closed")
    with pytest.raises(NotAllowed, match="closed"):
        house.submissions.submit(house.project("things"), "b", path, by=house.owner(), name="things.csv")


def test_the_pool_can_be_taken_away(house, shared, corpus, systems, tmp_path):
    import csv
    import zipfile

    from karat.service.evaluation_export import labels_csv, zip_pool

    project, campaign = shared
    found = submit(house, project, "one", systems["system-02"], tmp_path)
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    answer_all(house, project, campaign, corpus)
    row = house.evaluations.row(project)
    archive = zip_pool(house.pools, row)
    zipfile.ZipFile(archive).extractall(tmp_path / "out")
    archive.unlink()
    (folder,) = (tmp_path / "out").iterdir()
    board = house.evaluations.leaderboard(project, metric="f1", for_user=None)
    assert Pool(folder).scores().to_dict()["rows"] == board["rows"]
    text = labels_csv(house.pools, row)
    head, *lines = text.splitlines()
    laws = json.loads(head.removeprefix("# "))
    assert laws["seed"] == 3
    told = list(csv.DictReader(lines))
    assert len(told) == board["n_labels"]
    for each in told:
        assert int(each["label"]) == corpus.truth[each["id"]]
        assert 0 < float(each["inclusion"]) <= 1
    # a pool reads it back
    (tmp_path / "labels.csv").write_text(text, encoding="utf-8")
    other = Pool.create(tmp_path / "other")
    assert other.tell(tmp_path / "labels.csv", keep_unknown=True) == len(told)
    assert other.state.labels == {each["id"]: int(each["label"]) for each in told}
    # one over the probabilities adds up to the pool's size, within what chance allows
    assert sum(1 / float(each["inclusion"]) for each in told) == pytest.approx(len(systems["system-02"]), rel=0.35)


@pytest.mark.usefixtures("shared")
def test_what_cannot_be_created_leaves_nothing_behind(house, corpus):
    task = EvaluationTask(kind="relations", predicates=PREDICATES)
    before = sorted(house.pools.home.iterdir())
    twice = [corpus.documents[0], corpus.documents[0]]
    for title, documents, more in (("Relations", corpus.documents, {}), ("Other", twice, {}),
                                   ("Other", corpus.documents, {"half_width": 7})):  # fmt: skip
        with pytest.raises((Conflict, InvalidInput)):
            house.evaluations.create(title, campaign_for(task), task, by=house.owner(), documents=documents, **more)
        assert sorted(house.pools.home.iterdir()) == before


def test_no_id_or_column_is_run_by_a_spreadsheet(house, tmp_path):
    from karat.service.evaluation_export import labels_csv

    task = EvaluationTask(kind="items")
    campaign = campaign_for(task, votes=1)
    project = house.project(house.evaluations.create("Sums", campaign, task, by=house.owner(), half_width=0.4))
    path = tmp_path / "sums.csv"
    path.write_text("id,@shown,inclusion\n" + "".join(f"{sign}{k},=1,2\n" for k in range(20) for sign in ("=", "'=")))
    found = house.submissions.submit(project, "s", path, by=house.owner(), name="sums.csv")
    house.submissions.accept(project, campaign, found.id, by=house.owner())
    user = house.owner().id
    while tasks := house.assignment.next_tasks(project, campaign, user_id=user, n=20).tasks:
        for each in tasks:
            house.assignment.answer(project, campaign, Answer(each.item_id, "yes", f"r{each.item_id}"), user_id=user)
    row = house.evaluations.row(project)
    text = labels_csv(house.pools, row)
    assert not [cell for line in text.splitlines()[1:] for cell in line.split(",") if cell[0] in "=@"]
    (tmp_path / "labels.csv").write_text(text)
    other = Pool.create(tmp_path / "other")
    other.tell(tmp_path / "labels.csv", keep_unknown=True)
    with house.pools.use(row) as pool:
        assert other.state.labels == pool.state.labels


def test_some_systems_of_a_person_may_wait_each_with_one_file(house, tmp_path):
    task = EvaluationTask(kind="items")
    project = house.project(house.evaluations.create("Few", campaign_for(task), task, by=house.owner()))

    def send(name, by=None):
        path = tmp_path / "few.csv"
        path.write_text("id\na\nb\n")
        return house.submissions.submit(project, name, path, by=by or house.owner(), name="few.csv")

    sent = [send(f"s{k}") for k in range(MOST_WAITING)]
    with pytest.raises(Conflict, match=f"{MOST_WAITING} of your systems wait"):
        send("one more")
    again = send("s0")
    incoming = house.pools.incoming(house.evaluations.row(project))
    assert {int(file.stem) for file in incoming.iterdir()} == {again.id, *(each.id for each in sent[1:])}
    send("another's", by=house.add_user("second"))
    house.submissions.retract(project, sent[3].id, by=house.owner())
    send("one more")


@pytest.mark.parametrize(("later", "difference"), [
    ("ALPHA Zoë", "only in case"), ("alpha Zoe\u0308", "only in case or in Unicode form"),
    ("ａｌｐｈａ Zoë", "only in case or in Unicode form"),
])  # fmt: skip
def test_names_that_look_alike_are_refused(house, tmp_path, later, difference):
    task = EvaluationTask(kind="items")
    project = house.project(house.evaluations.create("Names", campaign_for(task), task, by=house.owner()))
    path = tmp_path / "few.csv"

    def send(name):
        path.write_text("id\na\n")
        return house.submissions.submit(project, name, path, by=house.owner(), name="few.csv")

    send("alpha Zoë")
    with pytest.raises(Conflict) as caught:
        send(later)
    assert f"The name {later!r} differs {difference} from 'alpha Zoë'" in str(caught.value)
    assert [each.system for each in house.submissions.list(project)] == ["alpha Zoë"]
    assert send("  alpha   Zoë ").system == "alpha Zoë"
    assert send("alpha Zoe").system == "alpha Zoe"


def test_too_many_predictions_are_not_read_to_the_end(corpus, tmp_path):
    path = write(tmp_path / "many.jsonl", corpus.candidates[:5])
    with path.open("a") as stream:
        stream.write("never read\n")
    with pytest.raises(InvalidData, match=r"many\.jsonl, line 4: a submission has 3 predictions at most"):
        check_relations(path, texts_of=dict, most=3)
