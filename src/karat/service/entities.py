"""Who the ends of readers' relations are, so that readers meet each other and the systems.

Two relations are the same if their ends are: by their links, else by their names. A reader who gives no link would meet
nobody who does. So an entity, a canonical mention with those that stand for it, is named by the first there is of

1. the link that its reader gives it;
2. the link that most other readers of the document give the same words;
3. the link that most systems give one of its mentions;
4. the only link that systems give its name, anywhere;
5. its name.

Of two links that equally many give, none is taken. Where no system states a relation under such names, but one does
under the names that most systems give its mentions without a link, or readers where no system does, those count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from enum import IntEnum
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.pool.relation_ends import NOTHING_SAID
from karat.service.marks import agreed_mentions, link_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from karat.pool.relation_ends import Place, SystemsSay
    from karat.service.evaluation_task import EvaluationTask
    from karat.service.marks import Marked

    Relation = tuple[str, str, str]


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


def agreed_relations(document: Marked, task: EvaluationTask, say: SystemsSay = NOTHING_SAID) -> list[Agreed]:
    """Return the relations, named as submissions name them, that more than half of the readers state."""
    spans = agreed_mentions(document, task)
    stated: dict[Relation, dict[int, list[tuple[Entity, Entity]]]] = defaultdict(lambda: defaultdict(list))
    for reader, reading in enumerate(document.readings):
        mentions = reading["mentions"]
        kept = {place for place, mention in enumerate(mentions)
                if any(low < mention["end"] and mention["start"] < high for low, high, _ in spans)}  # fmt: skip
        entities: dict[int, Entity] = {}
        for each in reading["relations"]:
            if each["subject"] in kept and each["object"] in kept:
                first, last = (mentions[each[end]]["canonical"] for end in ("subject", "object"))
                for canonical in (first, last):
                    if canonical not in entities:
                        entities[canonical] = name_entity(document, reader, canonical, say)
                subject, object_ = entities[first], entities[last]
                stated[subject.name, each["predicate"], object_.name][reader].append((subject, object_))
    agreed = []
    for (_, predicate, _), by in sorted(stated.items()):
        if 2 * len(by) > len(document.readings):
            subjects, objects = zip(*(ends for own in by.values() for ends in own), strict=True)
            agreed.append(Agreed(document.name, predicate, _merge(subjects), _merge(objects)))
    return agreed


def name_entity(document: Marked, reader: int, canonical: int, say: SystemsSay) -> Entity:
    """Name what a reader takes for one: the mentions that a canonical one stands for."""
    mentions = document.readings[reader]["mentions"]
    first = mentions[canonical]
    text = document.text[first["start"] : first["end"]]
    group = [first, *(each for each in mentions if each["canonical"] == canonical and each is not first)]
    places = frozenset((document.name, each["start"], each["end"]) for each in group)
    own = link_of(mentions, canonical)
    others = (reading["mentions"] for place, reading in enumerate(document.readings) if place != reader)
    taken = own or (
        _most(_link_of_words(group, other) for other in others)
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


def _link_of_words(words: Sequence[dict[str, Any]], mentions: Sequence[dict[str, Any]]) -> str | None:
    """Return the link that a reader gives the first of the words that they link, by the mention most like it."""
    for word in words:
        likeness = [(_overlap(word, mention), -place) for place, mention in enumerate(mentions)]
        share, place = max(likeness, default=(0.0, 0))
        link = link_of(mentions, mentions[-place]["canonical"]) if share > 0 else None
        if link:
            return link
    return None


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the share of the characters of two mentions that both hold."""
    both: int = min(one["end"], other["end"]) - max(one["start"], other["start"])
    either: int = max(one["end"], other["end"]) - min(one["start"], other["start"])
    return max(both, 0) / either


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
