"""How the ends of true relations came to their names, in counts and in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from karat.service.entities import How

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.pool.relation_ends import SystemsSay
    from karat.service.entities import Agreed, Entity, Relation


class Naming(NamedTuple):
    """Ends of distinct relations by how they came to their names; readers' links of words that systems link as well.

    Parameters
    ----------
    ends
        All of them: two for each relation.
    linked, taken, called, named
        Those that readers linked, that took a link of others, that took a name of systems, that keep their names.
    links
        Distinct links that readers gave to words, or to a name, that some system links too.
    known
        Those of them that some system gives just there.
    """

    ends: int
    linked: int
    taken: int
    called: int
    named: int
    links: int
    known: int

    @property
    def sentence(self) -> str:
        """Say what was done."""
        parts = [
            (self.linked, f"readers linked {self.linked:,}"),
            (self.taken, f"{self.taken:,} took the link that other readers or systems give the same words"),
            (self.called, f"{self.called:,} took the name that systems give the same words, unlinked"),
            (self.named, f"{self.named:,} {'keeps its name' if self.named == 1 else 'keep their names'}"),
        ]
        said = "; ".join(words for count, words in parts if count)
        return f"Of {self.ends:,} ends of relations, {said}." if said else "Readers agree on no relation yet."

    @property
    def doubt(self) -> str | None:
        """Warn where systems give other links than readers to most of what both link."""
        if 2 * self.known >= self.links:
            return None
        count = "1 link" if self.links == 1 else f"{self.links:,} links"
        return (
            f"Of {count} that readers gave to words which systems link too, systems give {self.known:,}: "
            "the links may be of different kinds (titles and Q-numbers, say), and recall would come out too low."
        )


def describe_naming(before: Sequence[Agreed], after: Sequence[Agreed], say: SystemsSay) -> Naming:
    """Count how ends came to their names, and how many of readers' links systems know.

    Parameters
    ----------
    before, after
        What readers agree on, before and after it took the names of systems; a relation of several documents counts
        once, each end by its surest name.
    """
    surest: dict[tuple[Relation, str], How] = {}
    for each in after:
        for side, end in (("subject", each.subject), ("object", each.object)):
            key = (each.relation, side)
            surest[key] = min(end.how, surest.get(key, end.how))
    counts = Counter(surest.values())
    compared = {
        (end.name, end.name in given)
        for each in before
        for end in (each.subject, each.object)
        if end.how == How.LINKED and (given := _links_given(end, say))
    }
    return Naming(
        ends=len(surest),
        linked=counts[How.LINKED],
        taken=counts[How.TAKEN],
        called=counts[How.CALLED],
        named=counts[How.NAMED],
        links=len({link for link, _ in compared}),
        known=len({link for link, is_known in compared if is_known}),
    )


def _links_given(end: Entity, say: SystemsSay) -> set[str]:
    """Return the links that systems give an end's mentions, or its name anywhere."""
    here = (link for place in end.places for _, link in say.links.get(place, ()))
    return {*here, *(link for text in end.texts for link in say.links_of.get(text, ()))}
