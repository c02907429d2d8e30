"""What an evaluation asks for: items of any kind, or relations between mentions in documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.service.campaign import Campaign, Option

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("items", "relations")
MOST_NAMES = 200
MOST_ALLOWED = 10**9

RELATION_OPTIONS = (
    Option(value="yes", label="Right", key="1", meaning="positive"),
    Option(value="no", label="Not said", key="2", meaning="negative"),
    Option(value="subject link", label="Link 1 wrong", key="3", meaning="negative"),
    Option(value="object link", label="Link 2 wrong", key="4", meaning="negative"),
    Option(value="unsure", label="Unsure", key="5", meaning="unsure"),
)
"""An instance is right if the sentence states the relation and both ends are linked to whom they mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """Labels that submissions may ask for without the owner being asked first.

    Parameters
    ----------
    each
        The most that one submission may need; 0: the owner is always asked.
    in_all
        The most that all of them together may need.
    used
        What those accepted so far may need, each counted with its most.
    """

    each: int = 0
    in_all: int = 0
    used: int = 0

    def __post_init__(self) -> None:
        for name in ("each", "in_all", "used"):
            _check.whole(name, getattr(self, name), least=0, most=MOST_ALLOWED)
        if self.in_all < self.each:
            raise _check.refuse("in_all", f"as much as one submission may need ({self.each:,}) or more", self.in_all)

    def covers(self, labels: int, *, beyond: int = 0) -> bool:
        """Whether a submission that may need so many labels is accepted unasked; ``beyond`` more than used are gone."""
        return 0 < self.each >= labels and self.used + beyond + labels <= self.in_all


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTask:
    """What is submitted, and the words of the domain.

    Parameters
    ----------
    kind
        ``items``: submissions are tables with an ``id``; ``relations``: lines of relation instances in documents.
    predicates
        Of relations: name of each predicate and how people read it ("works for"); any are taken if empty.
    types
        Kinds of mentions that people mark in documents.
    token_price, pair_price
        What reading a document costs: for each token, and for each pair of mentions in a sentence.
    allowance
        What submissions may cost without the owner being asked.

    Examples
    --------
    >>> EvaluationTask(kind="relations", predicates={"per:employer": "works for"}).in_words("per:employer")
    'works for'
    """

    kind: str = "items"
    predicates: dict[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ("person", "organization", "place")
    token_price: float = 0.0
    pair_price: float = 0.0
    allowance: Allowance = Allowance()

    def __post_init__(self) -> None:
        _check.one_of("kind", self.kind, KINDS)
        for name, value in (("token_price", self.token_price), ("pair_price", self.pair_price)):
            _check.number(name, value, least=0, most=1e6)
        words = [*self.predicates, *self.predicates.values(), *self.types]
        if len(words) > MOST_NAMES or not self.types:
            raise _check.refuse("types", f"1 to {MOST_NAMES} names together with the predicates", len(words))
        for word in words:
            if not word.strip() or len(word) > 100:
                raise _check.refuse("predicates", "names of 1 to 100 characters", word[:120])
        for name in ("predicates", "types"):
            given = list(getattr(self, name))
            if len(set(given)) < len(given):
                raise _check.refuse(name, "all different", given)

    def in_words(self, predicate: str) -> str:
        """Return a predicate as people read it."""
        return self.predicates.get(predicate, predicate)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> EvaluationTask:
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in document.items() if name in known}
        types = tuple(given.get("types", cls.__dataclass_fields__["types"].default))
        return cls(**{**given, "types": types, "allowance": Allowance(**given.get("allowance", {}))})


def campaign_for(task: EvaluationTask, **settings: Any) -> Campaign:
    """Return a campaign with what the task's instances need, where nothing else is said."""
    if task.kind == "relations":
        question = "Does the marked sentence say this, and are both linked to the right page?"
        return Campaign(**{"template": "instance", "options": RELATION_OPTIONS, "question": question, **settings})
    return Campaign(**settings)
