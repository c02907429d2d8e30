import numpy as np
import pytest

from karat.errors import InvalidInput
from karat.math.pooled.laws import entity_law, macro_law, own_law, uniform_law

SUBJECTS = ["ann", "ann", "ann", "bob", "bob", "cat"]
PREDICATES = ["born", "born", "wrote", "born", "wrote", "born"]
RELATIONS = ["r1", "r1", "r2", "r3", "r4", "r5"]


def test_the_paper_s_law_by_hand():
    relations_of, size_of, predicate_size = {"ann": 2, "bob": 2, "cat": 1}, {"ann": 3, "bob": 2, "cat": 1}, {}
    for predicate in PREDICATES:
        predicate_size[predicate] = predicate_size.get(predicate, 0) + 1
    raw = np.array(
        [relations_of[s] / (size_of[s] * predicate_size[p]) for s, p in zip(SUBJECTS, PREDICATES, strict=True)]
    )
    assert entity_law(SUBJECTS, PREDICATES, relations=RELATIONS) == pytest.approx(raw / raw.sum())


def test_macro_laws_give_every_group_the_same():
    law = macro_law(PREDICATES)
    for predicate in set(PREDICATES):
        assert law[np.array(PREDICATES) == predicate].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("law", [uniform_law(7), macro_law(SUBJECTS), own_law([0.2, 0.3, 0.5])])
def test_laws_sum_to_one(law):
    assert law.sum() == pytest.approx(1.0)
    assert (law > 0).all()


@pytest.mark.parametrize("values", [[0.5, 0.4], [0.5, 0.5, 0.0], [1.5, -0.5], [], [np.nan, 1.0]])
def test_probabilities_that_are_no_law_are_refused(values):
    with pytest.raises(InvalidInput, match="'probabilities' must be"):
        own_law(values)
