"""A made-up corpus whose every relation is known, and systems that find some of them: a shared task to try out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from karat.documents.relations import instance_id
from karat.documents.text import Document, Mention

PREDICATES = {"employer": "works for", "birthplace": "was born in", "seat": "has its seat in"}
_TYPES = {"employer": ("person", "organization"), "birthplace": ("person", "place"), "seat": ("organization", "place")}
_FIRST = ("Ann", "Zoë", "Łukasz", "Mehmet", "Priya", "Søren", "Chiara", "Kofi", "Mei", "Ravi", "Ida", "Tomás")
_LAST = ("Lee", "Müller", "Nowak", "Yılmaz", "Rao", "Holm", "Rossi", "Mensah", "Lin", "Patel", "Berg", "Núñez")
_ORGS = (
    "Acme",
    "Borealis",
    "Café Central",
    "Dynamo",
    "Élan",
    "Fjord Lines",
    "Globex",
    "Helix",
    "Initech",
    "Jade Works",
)
_PLACES = ("Aarhus", "Bogotá", "Cairo", "Dresden", "Évora", "Ghent", "Haifa", "Izmir", "Kraków", "Lima", "München")
_SAID = {
    "employer": ("{} works for {}.", "{} joined {} as an engineer.", "After years abroad, {} is employed by {}."),
    "birthplace": ("{} was born in {}.", "{}, a native of {}, wrote a book."),
    "seat": ("{} has its seat in {}.", "{} is run from {}."),
}
_NOT_SAID = {
    "employer": ("{} sued {}.", "{} never worked for {}.", "{} reported on {}."),
    "birthplace": ("{} moved to {}.", "{} spoke in {}."),
    "seat": ("{} sells shoes in {}.", "{} left {}."),
}


class Corpus(NamedTuple):
    """Documents, every pair of mentions that might state a relation, and which of them do."""

    documents: list[Document]
    candidates: list[dict[str, Any]]
    truth: dict[str, int]


def make_corpus(n_documents: int = 200, *, seed: int = 0) -> Corpus:
    """Write documents of four to nine sentences, each with two mentions; half of the sentences state a relation.

    Examples
    --------
    >>> corpus = make_corpus(3, seed=1)
    >>> len(corpus.documents), len(corpus.candidates) == len(corpus.truth)
    (3, True)
    """
    rng = np.random.default_rng(seed)
    documents, candidates, truth = [], [], {}
    for number in range(1, n_documents + 1):
        name, text = f"news-{number:04d}", ""
        mentions: list[Mention] = []
        for _ in range(int(rng.integers(4, 10))):
            predicate = str(rng.choice(list(PREDICATES)))
            stated = bool(rng.random() < 0.5)
            row, sentence = _sentence(predicate, rng, stated=stated, offset=len(text))
            for end, type_ in zip(("subject", "object"), _TYPES[predicate], strict=True):
                mentions.append(Mention(start=row[f"{end}_start"], end=row[f"{end}_end"], type=type_))
            row["document"] = name
            candidates.append(row)
            truth[instance_id(row)] = int(stated)
            text += sentence + (" " if rng.random() < 0.8 else "\n")
        documents.append(Document(name=name, text=text.rstrip(), mentions=tuple(mentions)))
    return Corpus(documents, candidates, truth)


def make_systems(corpus: Corpus, n_systems: int = 3, *, seed: int = 0) -> dict[str, list[dict[str, Any]]]:
    """Let systems of growing skill pick candidates; each has a threshold of its own and blind spots of its own."""
    rng = np.random.default_rng(seed)
    right = np.array([corpus.truth[instance_id(row)] for row in corpus.candidates])
    easy = rng.normal(size=right.size)
    systems = {}
    for number in range(n_systems):
        skill = 0.6 + 2.0 * (number + 1) / n_systems
        score = skill * right + 0.5 * easy + rng.normal(size=right.size)
        found = np.flatnonzero((score > rng.uniform(0.4, 1.4)) & (rng.random(right.size) < 0.85))
        rows = [{**corpus.candidates[k], "score": round(float(score[k]), 4)} for k in found.tolist()]
        systems[f"system-{number + 1:02d}"] = rows
    return systems


def _sentence(predicate: str, rng: np.random.Generator, *, stated: bool, offset: int) -> tuple[dict[str, Any], str]:
    names = {end: _name(type_, rng) for end, type_ in zip(("subject", "object"), _TYPES[predicate], strict=True)}
    template = str(rng.choice((_SAID if stated else _NOT_SAID)[predicate]))
    sentence = template.format(names["subject"], names["object"])
    row: dict[str, Any] = {"predicate": predicate}
    place = 0
    for end in ("subject", "object"):
        place = sentence.index(names[end], place)
        row |= {
            end: names[end],
            f"{end}_mention": names[end],
            f"{end}_start": offset + place,
            f"{end}_end": offset + place + len(names[end]),
            f"{end}_link": "wiki/" + names[end].replace(" ", "_"),
        }
        place += len(names[end])
    return row, sentence


def _name(type_: str, rng: np.random.Generator) -> str:
    if type_ == "person":
        return f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
    return str(rng.choice(_ORGS if type_ == "organization" else _PLACES))
