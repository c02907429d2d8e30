"""Who the ends of readers' relations are, so that readers meet each other and the systems.

Two relations are the same if their ends are: by their links, else by their names. A reader who gives no link would meet
nobody who does. So an entity, a canonical mention with those that stand for it, is named by the first there is of

1. the link that its reader gives it;
2. the link that most other readers of the document give the same words;
3. the link that most systems give one of its mentions;
4. the only link that systems give its name, anywhere;
5. its name.

Of two links that equally many give, none is taken. Where no system states a relation under such names, but one does
under the names that most systems give its mentions without a link, or readers where no system does, those count;
a name means the same in every document, as in the pool.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from enum import IntEnum
from itertools import accumulate, product
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.pool.relation_ends import NOTHING_SAID
from karat.service.marks import agreed_mentions, links_of, reached

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from karat.pool.relation_ends import Place, SystemsSay
    from karat.service.evaluation_task import EvaluationTask
    from karat.service.marks import Marked

    Relation = tuple[str, str, str]
    Span = tuple[int, int]


class How(IntEnum):
    """How an end came to its name, the surest first."""

    LINKED = 0
    TAKEN = 1
    CALLED = 2
    NAMED = 3


class Entity(NamedTuple):
    """An end of a relation: its name, how it came to it, its canonical names and its mentions."""

    name: str
    how: How
    texts: frozenset[str]
    places: frozenset[Place]


class Agreed(NamedTuple):
    """A relation that most readers of a document state."""

    document: str
    predicate: str
    subject: Entity
    object: Entity

    @property
    def relation(self) -> Relation:
        return (self.subject.name, self.predicate, self.object.name)


class Reader:
    """The mentions that one reader marks in a document, to be found by what they stand for and where they stand."""

    def __init__(self, mentions: Sequence[dict[str, Any]]) -> None:
        groups: dict[int, list[Span]] = defaultdict(list)
        for mention in mentions:
            groups[mention["canonical"]].append((mention["start"], mention["end"]))
        self.links = links_of(mentions)
        self._mentions = mentions
        self._groups = groups
        self._sorted = sorted((mention["start"], mention["end"], mention["canonical"]) for mention in mentions)
        self._reach = list(accumulate((end for _, end, _ in self._sorted), max))

    def spans_of(self, canonical: int) -> list[Span]:
        """Return the mentions that a canonical one stands for, itself first."""
        first = (self._mentions[canonical]["start"], self._mentions[canonical]["end"])
        return [first, *(span for span in self._groups[canonical] if span != first)]

    def link_of_words(self, words: Sequence[Span]) -> str | None:
        """Return the link given to the first of some words that has one, by the mention most like it."""
        for start, end in words:
            place = bisect_left(self._sorted, (end,))
            alike: list[tuple[float, int]] = []
            while place and self._reach[place - 1] > start:  # all before begin earlier, and one of them may end later
                place -= 1
                low, high, canonical = self._sorted[place]
                both = min(end, high) - max(start, low)
                alike.append((both / (max(end, high) - min(start, low)), canonical))
            share, canonical = max(alike, default=(0.0, 0))
            if share > 0 and canonical in self.links:
                return self.links[canonical]
        return None


def agreed_relations(document: Marked, task: EvaluationTask, say: SystemsSay = NOTHING_SAID) -> list[Agreed]:
    """Return the relations, named as submissions name them, that more than half of the readers state."""
    spans = [(low, high) for low, high, _ in agreed_mentions(document, task)]
    readers = [Reader(reading["mentions"]) for reading in document.readings]
    stated: dict[Relation, dict[int, list[tuple[Entity, Entity]]]] = defaultdict(lambda: defaultdict(list))
    for reader, reading in enumerate(document.readings):
        mentions = reading["mentions"]
        kept = [bool(inside) for inside in reached(spans, mentions)]
        entities: dict[int, Entity] = {}
        for each in reading["relations"]:
            if kept[each["subject"]] and kept[each["object"]]:
                first, last = (mentions[each[end]]["canonical"] for end in ("subject", "object"))
                for canonical in (first, last):
                    if canonical not in entities:
                        others = [other for other in readers if other is not readers[reader]]
                        entities[canonical] = name_entity(document, readers[reader], canonical, others, say)
                subject, object_ = entities[first], entities[last]
                stated[subject.name, each["predicate"], object_.name][reader].append((subject, object_))
    agreed = []
    for (_, predicate, _), by in sorted(stated.items()):
        if 2 * len(by) > len(document.readings):
            subjects, objects = zip(*(ends for own in by.values() for ends in own), strict=True)
            agreed.append(Agreed(document.name, predicate, _merge(subjects), _merge(objects)))
    return agreed


def name_entity(document: Marked, reader: Reader, canonical: int, others: Sequence[Reader], say: SystemsSay) -> Entity:
    """Name what a reader takes for one: the mentions that a canonical one stands for."""
    words = reader.spans_of(canonical)
    text = document.text[slice(*words[0])]
    places = frozenset((document.name, *span) for span in words)
    own = reader.links.get(canonical)
    taken = own or (
        _most(other.link_of_words(words) for other in others)
        or _most(link for _, link in set().union(*(say.links.get(place, set()) for place in places)))
        or _most(say.links_of.get(text, ()))
    )
    how = How.LINKED if own else How.TAKEN if taken else How.NAMED
    return Entity(taken or text, how, frozenset({text}), places)


def other_names(found: Agreed, say: SystemsSay) -> list[Relation]:
    """Return the relation under the names of its mentions, for one end or both."""
    ends = [[end.name, *(name for name in [_called(end, say)] if name)] for end in (found.subject, found.object)]
    return [(subject, found.predicate, object_) for subject, object_ in product(*ends)][1:]


def meet(found: Sequence[Agreed], say: SystemsSay, stated: Collection[Relation]) -> list[Agreed]:
    """Return the relations under names by which some system states them, where that is so; once for each document."""
    met: dict[tuple[str, Relation], Agreed] = {}
    for each in found:
        names = each.relation
        if names not in stated:
            names = next((other for other in other_names(each, say) if other in stated), names)
        subject, object_ = (end if end.name == name else end._replace(name=name, how=How.CALLED)
                            for end, name in ((each.subject, names[0]), (each.object, names[2])))  # fmt: skip
        met.setdefault((each.document, names), each._replace(subject=subject, object=object_))
    return list(met.values())


def _called(end: Entity, say: SystemsSay) -> str | None:
    """Return the name that most systems give an end's mentions without a link, else the one that readers give it."""
    name = _most(name for _, name in set().union(*(say.names.get(place, set()) for place in end.places)))
    name = name or _most(end.texts)
    return None if name == end.name else name


def _most(given: Iterable[str | None]) -> str | None:
    """Return what is given most often; None if nothing is, or something else as often."""
    counts = Counter(each for each in given if each).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def _merge(entities: Sequence[Entity]) -> Entity:
    return Entity(
        entities[0].name,
        min(each.how for each in entities),
        frozenset[str]().union(*(each.texts for each in entities)),
        frozenset[tuple[str, int, int]]().union(*(each.places for each in entities)),
    )
