"""A campaign: what people are asked about the items of a resource, and how."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.errors import InvalidInput
from karat.math.agreement.consensus import TIES
from karat.service.votes import MEANINGS, RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATES = ("fields", "pair", "triple", "text", "search", "spans", "instance", "document")
RESERVED_KEYS = "uznbsg?"
"""Keys of the labelling screen: undo, note, back, skip, guidelines, help."""
MOST_TEXT = 100_000


def _text(name: str, value: Any, *, most: int, least: int = 0) -> None:
    if not isinstance(value, str) or not least <= len(value.strip()) or len(value) > most or "\x00" in value:
        raise _check.refuse(
            name, f"text of {least:,} to {most:,} characters", value if value == "" else str(value)[:80]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of the possible answers."""

    value: str
    label: str
    key: str
    meaning: str

    def __post_init__(self) -> None:
        for name in ("value", "label"):
            _text(name, getattr(self, name), most=64, least=1)
        if len(self.key) != 1 or not self.key.isprintable() or self.key.isspace() or self.key.lower() in RESERVED_KEYS:
            raise _check.refuse("key", f"one character other than {', '.join(RESERVED_KEYS)}", self.key)
        _check.one_of("meaning", self.meaning, MEANINGS)


DEFAULT_OPTIONS = (
    Option(value="yes", label="Right", key="1", meaning="positive"),
    Option(value="no", label="Wrong", key="2", meaning="negative"),
    Option(value="unsure", label="Unsure", key="3", meaning="unsure"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What people see and do.

    Parameters
    ----------
    question
        Shown above every item.
    options
        The answers; each means positive, negative or unsure.
    guidelines
        Markdown, shown beside the item.
    votes, extra
        How many people judge an item, and how many more where they disagree.
    rule, tie
        How votes become a label ("majority", "dawid-skene", "gold-weighted"), and what a tie means.
    gold_share
        Share of gold questions, whose answer is known, among what people are given; nobody can tell them apart.
    template, fields
        How an item is laid out, and which of its columns are shown, in order (all that may be seen, if empty).
    show_scores, show_votes
        Both bias people; off unless asked for.
    price, currency
        What one answer costs.
    ahead
        How many untouched items are kept ready, so that nobody waits for an adaptive design.
    lease_minutes
        How long an item stays with somebody who does not answer.

    Examples
    --------
    >>> campaign = Campaign(question="Is this fact true?", votes=3)
    >>> Campaign.from_dict(campaign.to_dict()) == campaign
    True
    """

    question: str = "Is this right?"
    options: tuple[Option, ...] = DEFAULT_OPTIONS
    guidelines: str = ""
    votes: int = 1
    extra: int = 0
    rule: str = "majority"
    tie: str = "unsure"
    gold_share: float = 0.0
    template: str = "fields"
    fields: tuple[str, ...] = ()
    show_scores: bool = False
    show_votes: bool = False
    price: float = 0.0
    currency: str = ""
    ahead: int = 20
    lease_minutes: float = 5.0

    def __post_init__(self) -> None:
        _text("question", self.question, most=2000, least=1)
        _text("guidelines", self.guidelines, most=MOST_TEXT)
        _text("currency", self.currency, most=8)
        _check.whole("votes", self.votes, least=1, most=25)
        _check.whole("extra", self.extra, least=0, most=25)
        if self.extra and self.votes == 1:
            raise _check.refuse("extra", "0 where one vote an item is asked for: one vote cannot disagree", self.extra)
        _check.one_of("rule", self.rule, RULES)
        _check.one_of("tie", self.tie, TIES)
        _check.number("gold_share", self.gold_share, least=0, most=0.5)
        if self.gold_share and (self.show_scores or self.show_votes):
            raise _check.refuse("gold_share", "0 where scores or votes are shown: they would tell gold questions apart",
                                self.gold_share)  # fmt: skip
        _check.one_of("template", self.template, TEMPLATES)
        _check.number("price", self.price, least=0, most=1e6)
        _check.whole("ahead", self.ahead, least=1, most=10_000)
        _check.number("lease_minutes", self.lease_minutes, least=0.01, most=24 * 60)
        for name in ("value", "key"):
            given = [getattr(option, name).lower() for option in self.options]
            if len(set(given)) < len(given):
                raise _check.refuse("options", f"different in their {name}s", given)
        meanings = {option.meaning for option in self.options}
        if len(self.options) > 20 or not {"positive", "negative"} <= meanings:
            raise _check.refuse("options", "at most 20, with a positive and a negative one", sorted(meanings))

    def meaning(self, value: str) -> int:
        """Return what an answer means: 1, 0 or -1."""
        for option in self.options:
            if option.value == value:
                return MEANINGS[option.meaning]
        raise _check.refuse("value", "one of " + ", ".join(repr(option.value) for option in self.options), value)

    def suit(self, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a method's parameters, completed for people who answer side by side.

        certify then knows that answers are out while it goes on, and looks twice: the whole curve is seen early, and
        the second look makes up for what the first could not know.
        """
        return {"pending": self.ahead, "looks": 2, **given} if method == "certify" else dict(given)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Campaign:
        known = {field.name for field in fields(cls)}
        stray = sorted(set(document) - known)
        if stray:
            raise _check.refuse("setting", f"one of {', '.join(sorted(known))}", stray[0])
        given = dict(document)
        try:
            if "options" in given:
                given["options"] = tuple(Option(**option) for option in given["options"])
            if "fields" in given:
                given["fields"] = tuple(str(name) for name in given["fields"])
            return cls(**given)
        except (TypeError, AttributeError) as error:
            raise InvalidInput(f"The campaign is damaged: {error}.") from error


def make_slug(title: str) -> str:
    """Return a short name for addresses.

    Examples
    --------
    >>> make_slug("Café facts, round 2!")
    'caf-facts-round-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48] or "project"
