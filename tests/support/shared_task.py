"""A shared task whose truth is known, and its pool without the service around it."""

from __future__ import annotations

import json

import numpy as np

from karat.documents.relations import RELATION, check_relations, instance_id, write_instances
from karat.math.agreement.vote_errors import majority_errors
from karat.pool import Pool
from karat.service.label_errors import FEWEST_ITEMS


def true_metrics(corpus, systems):
    """Return each system's precision over instances, and its recall over the distinct relations that any finds."""
    right = {name: [line for line in lines if corpus.truth[instance_id(line)]] for name, lines in systems.items()}
    true = {relation_of(line) for lines in right.values() for line in lines}
    known = {}
    for name, lines in systems.items():
        precision, recall = len(right[name]) / len(lines), len({relation_of(each) for each in right[name]}) / len(true)
        known[name] = {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}
    return known


def relation_of(line):
    return line["subject_link"], line["predicate"], line["object_link"]


def checked_files(corpus, systems, place):
    """Write each system's submission as the service keeps it once it is checked; return the files by name."""
    texts = {document.name: document.text for document in corpus.documents}
    files = {}
    for name, lines in systems.items():
        path = place / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        files[name] = place / f"checked-{name}.jsonl"
        write_instances(check_relations(path, texts_of=lambda _: texts, predicates={}), files[name])
    return files


ANN_WORKS = "Ann works for Acme."


def lines_of(system, n_relations, n_instances, *, relations="r"):
    """Return the file of a system that finds relations in instances of its own, each in a document `ANN_WORKS`."""
    start = ANN_WORKS.index("Acme")
    return "".join(
        json.dumps({"document": f"{system}{k}-{j}", "subject": "Ann", "predicate": "employer",
                    "object": f"{relations}{k}", "subject_mention": "Ann", "subject_start": 0, "subject_end": 3,
                    "object_mention": "Acme", "object_start": start, "object_end": start + len("Acme")}) + "\n"
        for k in range(n_relations) for j in range(n_instances)
    )  # fmt: skip


def covers(score, known):
    return score["low"] <= known <= score["high"]


def label_pool(folder, files, votes_of, *, n_votes, **settings):
    """Make a pool of files and label by majority whatever it asks for; return it and the number of labels.

    ``votes_of(ids)`` says how many votes each gets that are positive. As in the service, the pool is told how often the
    majority errs before it draws again.
    """
    pool = Pool.create(folder, relation=RELATION, **settings)
    for name, file in files.items():
        pool.add(name, file)
    positive = {}
    while asked := pool.next():
        positive |= votes_of(asked)
        pool.tell({name: int(2 * positive[name] > n_votes) for name in asked})
        if len(positive) >= FEWEST_ITEMS:
            pool.tell_errors(majority_errors(list(positive.values()), n_votes=n_votes))
    return pool, len(positive)


def relation_matrix(corpus, systems):
    """Return the systems' laws over the distinct relations that any of them states, and which of these are true."""
    relations = sorted({relation_of(line) for lines in systems.values() for line in lines})
    place = {relation: k for k, relation in enumerate(relations)}
    law, labels = np.zeros((len(systems), len(relations))), np.zeros(len(relations), dtype=int)
    for row, lines in zip(law, systems.values(), strict=True):
        for line in lines:
            row[place[relation_of(line)]] += 1 / len(lines)
            labels[place[relation_of(line)]] |= int(corpus.truth[instance_id(line)])
    return law, labels
