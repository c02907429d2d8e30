"""Generate a knowledge base of simple facts, right or wrong, with scores like those of a real extractor.

The share of right facts falls slowly with the rank, .85 - .03 ln(1 + rank / 100), as in the Science KB of the PAULA
paper. Scores have four digits, so many are tied.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karat.study import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Maker = Callable[[np.random.Generator, bool], tuple[str, str, str]]

N_FACTS = 217_077
_WORDS = ("apple", "bread", "chair", "dance", "eagle", "flame", "grape", "house", "island", "jacket", "kettle", "lemon",
          "mirror", "needle", "ocean", "pencil", "queen", "river", "silver", "tunnel", "umbrella", "violin", "window",
          "yellow", "zebra")  # fmt: skip
_MONTHS = {"January": 31, "March": 31, "April": 30, "May": 31, "June": 30, "July": 31, "August": 31, "September": 30,
           "October": 31, "November": 30, "December": 31}  # fmt: skip


class Facts(NamedTuple):
    """Columns of the generated resource, in no particular order."""

    id: list[str]
    subject: list[str]
    relation: list[str]
    object: list[str]
    score: NDArray[np.float64]
    label: NDArray[np.int8]


def make_facts(n_facts: int = N_FACTS, *, seed: int = 7) -> Facts:
    """Return the facts, shuffled.

    Examples
    --------
    >>> facts = make_facts(3, seed=1)
    >>> len(facts.subject), set(facts.label.tolist()) <= {0, 1}
    (3, True)
    """
    rng = np.random.default_rng(seed)
    ranks = np.arange(1, n_facts + 1)
    rates = np.clip(0.85 - 0.03 * np.log1p(ranks / 100), 0.02, 0.98)
    labels = (rng.random(n_facts) < rates).astype(np.int8)
    scores = np.round(1 - 0.999 * (ranks / n_facts) ** 0.8, 4)
    kinds = rng.integers(len(_MAKERS), size=n_facts)
    triples: list[tuple[str, str, str]] = []
    seen: set[tuple[str, str, str]] = set()
    for kind, right in zip(kinds, labels, strict=True):
        triple = _MAKERS[kind](rng, bool(right))
        while triple in seen:  # no fact twice; of sums there are enough
            triple = _sum(rng, bool(right))
        seen.add(triple)
        triples.append(triple)
    order = rng.permutation(n_facts)
    return Facts(
        id=[f"fact-{number:06d}" for number in range(1, n_facts + 1)],
        subject=[triples[place][0] for place in order],
        relation=[triples[place][1] for place in order],
        object=[triples[place][2] for place in order],
        score=scores[order],
        label=labels[order],
    )


def write_facts(path: str | Path, n_facts: int = N_FACTS, *, seed: int = 7) -> dict[str, int]:
    """Write the facts as CSV, without their labels, and return those by id: what people would answer.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     truth = write_facts(Path(folder, "facts.csv"), 100)
    ...     print(Path(folder, "facts.csv").read_text().splitlines()[0], len(truth))
    id,subject,relation,object,score 100
    """
    facts = make_facts(n_facts, seed=seed)
    with write_whole(path, newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "subject", "relation", "object", "score"])
        writer.writerows(zip(facts.id, facts.subject, facts.relation, facts.object, facts.score.tolist(), strict=True))
    return dict(zip(facts.id, facts.label.tolist(), strict=True))


def _sum(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    a, b = (int(n) for n in rng.integers(10, 1000, size=2))
    off = 0 if right else int(rng.choice([-10, -2, -1, 1, 2, 10]))
    return f"{a} + {b}", "equals", str(a + b + off)


def _product(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    a, b = int(rng.integers(2, 13)), int(rng.integers(2, 100))
    off = 0 if right else int(rng.choice([-a, -1, 1, a, 10]))
    return f"{a} × {b}", "equals", str(a * b + off)


def _comparison(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    small = int(rng.integers(10, 900))
    large = small + int(rng.integers(1, 100))
    return (str(large), "is greater than", str(small)) if right else (str(small), "is greater than", str(large))


def _divisor(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    divisor, times = int(rng.integers(3, 10)), int(rng.integers(2, 60))
    off = 0 if right else int(rng.integers(1, divisor))
    return str(divisor * times + off), "is divisible by", str(divisor)


def _alphabet(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    first, second = sorted(rng.choice(len(_WORDS), size=2, replace=False))
    words = (_WORDS[first], _WORDS[second]) if right else (_WORDS[second], _WORDS[first])
    return f"“{words[0]}”", "stands in the dictionary before", f"“{words[1]}”"


def _length(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    word = _WORDS[int(rng.integers(len(_WORDS)))]
    off = 0 if right else int(rng.choice([-1, 1]))
    return f"the word “{word}”", "has this many letters:", str(len(word) + off)


def _month(rng: np.random.Generator, right: bool) -> tuple[str, str, str]:  # noqa: FBT001
    month = list(_MONTHS)[int(rng.integers(len(_MONTHS)))]
    days = _MONTHS[month] if right else 61 - _MONTHS[month]
    return month, "has this many days:", str(days)


_MAKERS: tuple[Maker, ...] = (_sum, _product, _comparison, _divisor, _alphabet, _length, _month)
