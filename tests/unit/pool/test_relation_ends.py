"""What systems say of the ends of relations, against plain loops over their lines."""

from __future__ import annotations

import json

import numpy as np
import pytest

from karat.pool.pool import Pool
from karat.pool.relation_ends import LinksCompared, compare_links, find_stated, read_ends

ENDS = ("subject", "object")
RELATION = ("subject_entity", "predicate", "object_entity")


def make_lines(rng, n, *, linked):
    """Return random predictions; names, links and places repeat, and some look like numbers, dates or JSON."""
    words = np.array(["Ann", "Zoë", "12", "2026-01-02", '{"a": 1}', 'O\'Neil \\ "x"'], dtype=object)
    lines = {}
    for _ in range(n):
        line = {"document": f"d{rng.integers(3)}", "predicate": "p"}
        for end in ENDS:
            name, start = str(rng.choice(words)), int(rng.integers(4))
            link = f"{name}/{rng.integers(2)}" if rng.random() < linked else None
            line |= {end: name, f"{end}_start": start, f"{end}_end": start + 2, f"{end}_link": link,
                     f"{end}_entity": link or name}  # fmt: skip
        line["id"] = json.dumps(line)
        lines[line["id"]] = line
    return list(lines.values())


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def ends_of(lines):
    return [((line["document"], line[f"{end}_start"], line[f"{end}_end"]), line[end], line[f"{end}_link"])
            for line in lines for end in ENDS]  # fmt: skip


@pytest.fixture
def systems(tmp_path):
    """Return a pool of three systems, one of them retracted, and the lines of each."""
    rng = np.random.default_rng(3)
    lines = {"some": make_lines(rng, 40, linked=0.5), "none": make_lines(rng, 25, linked=0.0),
             "gone": make_lines(rng, 25, linked=0.7)}  # fmt: skip
    pool = Pool.create(tmp_path / "pool", relation=RELATION)
    for name, each in lines.items():
        pool.add(name, write(tmp_path / f"{name}.jsonl", each))
    pool.retract("gone")
    return pool, lines


def test_ends_against_a_loop(systems):
    """Links are those of systems that compete; names without a link also those of systems that are gone."""
    pool, lines = systems
    places = {(f"d{document}", start, start + 2) for document in (0, 2) for start in range(4)}
    names = {"Ann", "12", "2026-01-02", '{"a": 1}', "Nobody"}
    said = read_ends(pool, places, names)
    links, unlinked, links_of = {}, {}, {}
    for system, each in lines.items():
        for place, name, link in ends_of(each):
            if link is None and place in places:
                unlinked.setdefault(place, set()).add((system, name))
            if link is not None and system != "gone":
                if place in places:
                    links.setdefault(place, set()).add((system, link))
                if name in names:
                    links_of.setdefault(name, set()).add(link)
    number = {str(pool.folder / each.folder / "payload.parquet"): each.name for each in pool.state.systems}

    def by_name(votes):
        return {place: {(number[system], value) for system, value in each} for place, each in votes.items()}

    assert by_name(said.links) == links
    assert by_name(said.names) == unlinked
    assert said.links_of == links_of
    assert len(links) > 3 < len(unlinked)


def test_relations_that_any_system_states(systems):
    pool, lines = systems
    every = {chr(31).join(line[name] for name in RELATION) for each in lines.values() for line in each}
    some = sorted(every)[::3]
    assert find_stated(pool, [*some, "a\x1fp\x1fb"]) == set(some)
    assert find_stated(pool, []) == set()


@pytest.mark.parametrize("text", ["2026-01-02T10:00:00Z", "2026-01-02 10:00", "2026-01-02", "10:00", "1e5", "true",
                                  "007", "6F9619FF-8B86-D011-B42D-00C04FC964FF"])  # fmt: skip
def test_names_stay_as_they_are_spelt(tmp_path, text):
    """A column all of whose texts look like times or numbers is still text."""
    pool = Pool.create(tmp_path / "pool", relation=RELATION)
    line = {"id": text, "subject_entity": "s", "predicate": "p", "object_entity": text, "more": {"when": text}}
    pool.add("x", write(tmp_path / "x.jsonl", [line]))
    assert find_stated(pool, [f"s\x1fp\x1f{text}"]) == {f"s\x1fp\x1f{text}"}
    assert pool.items([text])[text]["object_entity"] == text


def test_an_empty_pool_says_nothing(tmp_path):
    pool = Pool.create(tmp_path / "pool", relation=RELATION)
    assert read_ends(pool, {("d", 0, 1)}, {"Ann"}) == ({}, {}, {})
    assert find_stated(pool, ["x"]) == set()
    assert compare_links(pool, tmp_path / "none.jsonl", pool.systems) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("linked", [0.0, 0.1, 0.5, 1.0])
def test_links_compared_against_a_loop(systems, tmp_path, linked):
    pool, lines = systems
    new = make_lines(np.random.default_rng(int(10 * linked)), 12, linked=linked)
    path = write(tmp_path / "new.jsonl", new)

    def by_name(given):
        found = {}
        for _, name, link in given:
            found.setdefault(name, []).append(link)
        return found

    for earlier in (pool.systems, pool.systems[:1], pool.systems[1:]):
        here = by_name(ends_of(new))
        there = by_name(end for system in earlier for end in ends_of(lines[system.name]))
        both = here.keys() & there.keys()
        expected = LinksCompared(
            names=len(both),
            lacking=sum(not any(here[name]) and any(there[name]) for name in both),
            alone=sum(all(here[name]) and not any(there[name]) for name in both),
            linked=sum(any(here[name]) and any(there[name]) for name in both),
            known=sum(bool(set(filter(None, here[name])) & set(there[name])) for name in both),
        )
        assert compare_links(pool, path, earlier) == expected
    pool.add("new", path)
    kept = pool.folder / pool.systems[-1].folder / "payload.parquet"
    assert compare_links(pool, kept, pool.systems[:-1]) == compare_links(pool, path, pool.systems[:-1])


def test_columns_of_any_name_make_up_a_relation(tmp_path):
    columns = ("who's", 'a"b', "c.d", "e/f~1", "g\\h")
    pool = Pool.create(tmp_path / "pool", relation=columns)
    pool.add("s", write(tmp_path / "s.jsonl", [{"id": "x", **{name: f"v{k}" for k, name in enumerate(columns)}}]))
    stated = "\x1f".join(f"v{k}" for k in range(len(columns)))
    assert find_stated(pool, [stated, "other"]) == {stated}
