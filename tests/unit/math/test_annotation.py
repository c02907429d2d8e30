"""Marks of several readers, and documents drawn by a law, against textbook twins and seeded simulation."""

import itertools

import numpy as np
import pytest

from karat.math.agreement.chance import fleiss_kappa
from karat.math.annotation.reading import document_law, draw_documents, inclusion_of
from karat.math.annotation.spans import majority_spans, share_found, token_kappa
from karat.math.pooled.recall import pool_recall


def marks(spans, n_tokens):
    codes, begins = [0] * n_tokens, [0] * n_tokens
    for first, after, code in spans:
        begins[first] = 1
        codes[first:after] = [code] * (after - first)
    return codes, begins


def majority(readers, n_tokens=8):
    codes, begins = zip(*(marks(spans, n_tokens) for spans in readers), strict=True)
    return majority_spans(codes, begins)


def test_what_all_mark_is_kept_and_what_one_marks_is_not():
    assert majority([[(0, 2, 1), (4, 5, 2)]] * 3) == [(0, 2, 1), (4, 5, 2)]
    assert majority([[(0, 2, 1)], [], []]) == []
    assert majority([[(0, 3, 1)], [(1, 3, 1)], [(1, 4, 1)]]) == [(1, 3, 1)]
    assert majority([[(0, 2, 1)], [(0, 2, 2)], [(0, 2, 1)]]) == [(0, 2, 1)]


def test_neighbours_of_one_kind_stay_two_where_most_say_so():
    two, one = [(0, 1, 1), (1, 3, 1)], [(0, 3, 1)]
    assert majority([two, two, one]) == two
    assert majority([two, one, one]) == one


def test_half_is_no_majority():
    assert majority([[(0, 2, 1)], []]) == []
    assert majority([[(0, 2, 1)], [(0, 2, 1)]]) == [(0, 2, 1)]


def test_kappa_is_that_of_the_tokens_and_the_order_of_readers_is_of_no_matter():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 40))
    counts = [[int((codes[:, token] == code).sum()) for code in range(3)] for token in range(40)]
    assert token_kappa(codes).coefficient == pytest.approx(fleiss_kappa(counts).coefficient)
    assert token_kappa(codes[::-1]) == token_kappa(codes)
    same = np.tile(codes[:1], (3, 1))
    assert token_kappa(same).coefficient == pytest.approx(1.0)
    unread = codes.copy()
    unread[2, 20:] = -1
    assert token_kappa(unread).n_votes == 100
    assert token_kappa(np.zeros((2, 0))).coefficient is None


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_share_found_is_the_mean_over_all_choices(k):
    rng = np.random.default_rng(k)
    found = rng.random((4, 9)) < 0.4
    every = [found[list(chosen)].any(axis=0).mean() for chosen in itertools.combinations(range(4), k)]
    assert share_found(found, k) == pytest.approx(np.mean(every))


def test_the_entity_law_is_that_of_drawing_an_entity_and_then_a_document():
    entities = [["a", "b"], ["a", "a"], ["c"], []]
    law = document_law(entities, 4)
    assert law.sum() == pytest.approx(1.0)
    names = ["a", "b", "c"]
    twin = [np.mean([(name in own) / sum(name in other for other in entities) for name in names]) for own in entities]
    assert law == pytest.approx(twin)


def test_documents_come_with_the_probability_that_is_recorded():
    """4,000 draws: each document's frequency within 4 standard errors plus .01 of its inclusion."""
    rng = np.random.default_rng(7)
    pi = inclusion_of(rng.gamma(0.8, size=40), 15)
    assert pi.sum() == pytest.approx(15)
    counts = np.zeros(40)
    for _ in range(4000):
        drawn = draw_documents(pi, rng=rng)
        assert drawn.size == 15
        counts[drawn] += 1
    assert np.all(np.abs(counts / 4000 - pi) <= 4 * np.sqrt(pi * (1 - pi) / 4000) + 0.01)


@pytest.mark.parametrize(("weighted", "holds"), [(True, True), (False, False)])
def test_theta_corrects_for_the_law_of_the_documents(weighted, holds):
    """Documents with many entities are drawn more often and hold more that systems find: unweighted theta is off.

    400 draws of 60 of 600 documents: the weighted mean is within .01 of the truth and 90% intervals cover at least
    86%; without weights both fail.
    """
    rng = np.random.default_rng(11)
    n_entities = rng.integers(1, 12, 600)
    entities = [[f"{k}-{e}" for e in range(n)] for k, n in enumerate(n_entities)]
    n_relations = rng.integers(1, 6, 600)
    inside = [rng.random(n) < 0.25 + 0.05 * size for n, size in zip(n_relations, n_entities, strict=True)]
    truth = np.concatenate(inside).mean()
    pi = inclusion_of(document_law(entities, 600), 60)
    values, covered = [], 0
    for _ in range(400):
        drawn = draw_documents(pi, rng=rng)
        hits = np.concatenate([inside[k] for k in drawn]).astype(int)
        names = np.repeat(drawn, n_relations[drawn])
        theta = pool_recall(hits, names, weights=1 / pi[names] if weighted else None)
        values.append(theta.value)
        covered += abs(theta.value - truth) <= 1.645 * np.sqrt(theta.variance)
    assert bool(abs(np.mean(values) - truth) < 0.01) is holds
    assert bool(covered / 400 >= 0.86) is holds
