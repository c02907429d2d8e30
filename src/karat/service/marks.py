"""What readers marked in documents: checked, and turned into agreement and majority."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from karat import _check
from karat.documents.text import sentences_of, tokens_of
from karat.math.annotation.spans import majority_spans, share_found, token_kappa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.service.evaluation_task import EvaluationTask

MOST_MENTIONS, MOST_RELATIONS, MOST_LINK = 5000, 20_000, 300
MOST_IN_SENTENCE = 500


class Marked(NamedTuple):
    """A document as its readers marked it."""

    name: str
    text: str
    readings: list[dict[str, Any]]
    users: list[str]


def check_annotation(content: dict[str, Any], text: str, task: EvaluationTask) -> None:
    """Refuse marks that are outside of the document, twice there, of unknown kinds, or that name nothing."""
    mentions, relations = content["mentions"], content["relations"]
    for name, most in (("mentions", MOST_MENTIONS), ("relations", MOST_RELATIONS)):
        if len(content[name]) > most:
            raise _check.refuse(name, f"{most:,} at most", len(content[name]))
    seen: set[tuple[int, int]] = set()
    for number, mention in enumerate(mentions):
        where = f"mention {number + 1}"
        span = (mention["start"], mention["end"])
        if not 0 <= span[0] < span[1] <= len(text):
            raise _check.refuse(where, f"inside the document's {len(text):,} characters", span)
        if span in seen:
            raise _check.refuse(where, "marked once", span)
        seen.add(span)
        _check.one_of(f"{where}: type", mention["type"], task.types)
        canonical = mention["canonical"]
        if not 0 <= canonical < len(mentions) or mentions[canonical]["canonical"] != canonical:
            raise _check.refuse(f"{where}: canonical", "the number of a mention that stands for itself", canonical)
        if mention["link"] is not None and not 1 <= len(mention["link"].strip()) <= MOST_LINK:
            raise _check.refuse(f"{where}: link", f"text of 1 to {MOST_LINK} characters", mention["link"][:80])
    touched = reached(sentences_of(text), mentions)
    crowded = Counter(sentence for sentences in touched for sentence in sentences)
    if crowded and max(crowded.values()) > MOST_IN_SENTENCE:
        raise _check.refuse("mentions", f"{MOST_IN_SENTENCE:,} at most in a sentence", max(crowded.values()))
    _check_relations(relations, touched, task)


def _check_relations(relations: Sequence[dict[str, Any]], touched: Sequence[range], task: EvaluationTask) -> None:
    stated: set[tuple[int, str, int]] = set()
    for number, relation in enumerate(relations):
        where = f"relation {number + 1}"
        key = (relation["subject"], relation["predicate"], relation["object"])
        if not _together(touched, key[0], key[2]):
            raise _check.refuse(where, "between two mentions of one sentence", (key[0], key[2]))
        if task.predicates:
            _check.one_of(f"{where}: predicate", key[1], task.predicates)
        if key in stated:
            raise _check.refuse(where, "stated once", key)
        stated.add(key)


def count_pairs(text: str, reading: dict[str, Any]) -> int:
    """Return how many pairs of mentions share a sentence: so many had to be thought about."""
    inside: Counter[int] = Counter()
    across: Counter[int] = Counter()
    for sentences in reached(sentences_of(text), reading["mentions"]):
        inside.update(sentences)
        across.update(sentences[:-1])
    # two mentions share a run of sentences: counted in each of them, less once for each two neighbours in it
    return sum(n * (n - 1) // 2 for n in inside.values()) - sum(n * (n - 1) // 2 for n in across.values())


def reached(pieces: Sequence[tuple[int, int]], mentions: Sequence[dict[str, Any]]) -> list[range]:
    """Return which of some pieces of a text, in order and apart, each mention reaches into."""
    begins, ends = [low for low, _ in pieces], [high for _, high in pieces]
    return [range(bisect_right(ends, mention["start"]), bisect_left(begins, mention["end"])) for mention in mentions]


def _together(touched: Sequence[range], one: int, other: int) -> bool:
    """Whether two different mentions reach into the same sentence."""
    if one == other or not (0 <= one < len(touched) and 0 <= other < len(touched)):
        return False
    return max(touched[one].start, touched[other].start) < min(touched[one].stop, touched[other].stop)


def agreement(marked: Sequence[Marked]) -> dict[str, float | None]:
    """Return Fleiss' kappa over the tokens of all documents: typed spans, canonical mentions, links."""
    codes: dict[str, list[list[int]]] = {"spans": [], "canonical": [], "links": []}
    values: dict[str, dict[Any, int]] = {name: {None: 0} for name in codes}
    n_readers = max((len(document.readings) for document in marked), default=0)
    if n_readers < 2:
        return dict.fromkeys(codes)
    tables: dict[str, list[Any]] = {name: [] for name in codes}
    for document in marked:
        tokens = tokens_of(document.text)
        for name in codes:
            table = np.full((n_readers, len(tokens)), -1, dtype=np.int64)
            for place, reading in enumerate(document.readings):
                row = _token_values(tokens, reading, name, document)
                table[place] = [values[name].setdefault(value, len(values[name])) for value in row]
            tables[name].append(table)
    return {name: token_kappa(np.concatenate(each, axis=1)).coefficient for name, each in tables.items()}


def _token_values(tokens: Sequence[tuple[int, int]], reading: dict[str, Any], what: str, document: Marked) -> list[Any]:
    """Return what a reader says of each token: its span's type, whom it means, or the page; None outside of spans."""
    said: list[Any] = [None] * len(tokens)
    mentions = reading["mentions"]
    links = links_of(mentions)
    for mention, inside in zip(mentions, reached(tokens, mentions), strict=True):
        first = mentions[mention["canonical"]]
        value = {
            "spans": mention["type"],
            "canonical": (document.name, first["start"], first["end"]),
            "links": links.get(mention["canonical"]),
        }[what]
        for place in inside:
            said[place] = value
    return said


def agreed_mentions(document: Marked, task: EvaluationTask) -> list[tuple[int, int, str]]:
    """Return the spans, in characters, and types that most readers mark, token by token."""
    tokens = tokens_of(document.text)
    code = {name: number for number, name in enumerate(task.types, start=1)}
    codes = np.zeros((len(document.readings), len(tokens)), dtype=np.int64)
    begins = np.zeros(codes.shape, dtype=bool)
    for row, reading in enumerate(document.readings):
        mentions = reading["mentions"]
        for mention, inside in zip(mentions, reached(tokens, mentions), strict=True):
            codes[row, inside] = code[mention["type"]]
            begins[row, inside[:1]] = True
    spans = majority_spans(codes, begins)
    return [(tokens[first][0], tokens[after - 1][1], task.types[number - 1]) for first, after, number in spans]


def links_of(mentions: Sequence[dict[str, Any]]) -> dict[int, str]:
    """Return the page that each canonical mention, or else the first that stands for it, is linked to."""
    own = {mention["canonical"]: mention["link"] for place, mention in enumerate(mentions)
           if mention["canonical"] == place and mention["link"]}  # fmt: skip
    first = {each["canonical"]: each["link"] for each in reversed(mentions) if each["link"]}
    return first | own


def count_linked(marked: Sequence[Marked]) -> list[dict[str, Any]]:
    """Return for each reader how many of their mentions lead to a page, themselves or by whom they stand for."""
    linked: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    for document in marked:
        for user, reading in zip(document.users, document.readings, strict=True):
            links = links_of(reading["mentions"])
            linked[user] += sum(mention["canonical"] in links for mention in reading["mentions"])
            mentions[user] += len(reading["mentions"])
    return [{"reader": user, "linked": linked[user], "mentions": mentions[user]} for user in sorted(mentions)]


def shares_found(
    marked: Sequence[Marked], known: dict[str, list[list[Any]]], task: EvaluationTask
) -> dict[str, Any] | None:
    """Return the share of an expert's spans that k readers find together, and that their majority finds.

    The expert's spans are those that came with the documents; None where there are none.
    """
    judged = [document for document in marked if known.get(document.name)]
    n_readers = min((len(document.readings) for document in judged), default=0)
    if not n_readers:
        return None
    found: list[list[bool]] = []
    majority = total = 0
    for document in judged:
        spans = [(start, end) for start, end, _ in known[document.name]]
        own = [{(m["start"], m["end"]) for m in reading["mentions"]} for reading in document.readings[:n_readers]]
        found += [[span in marks for marks in own] for span in spans]
        agreed = {(low, high) for low, high, _ in agreed_mentions(document, task)}
        majority += sum(span in agreed for span in spans)
        total += len(spans)
    table = np.array(found).T
    return {
        "together": [share_found(table, k) for k in range(1, n_readers + 1)],
        "majority": majority / total,
        "spans": total,
    }
