"""The keys of the labelling screen: everybody may choose their own, and no key does two things."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from karat import _check

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from karat.service.campaign import Option

ACTIONS = {"undo": "u", "back": "b", "skip": "s", "note": "n", "guidelines": "g", "keys": "?"}
MOST_ANSWERS = 20
_SPARE = "1234567890abcdefghijklmnopqrstuvwxyz"


def read_keys(stored: str | None) -> dict[str, str]:
    """Return a person's own keys as stored: action, or "answer 1" and so on, to key."""
    return {} if stored is None else dict(json.loads(stored))


def keys_of(options: Sequence[Option], own: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the key of every action and of every answer, for a person with keys of their own.

    An answer whose key the person uses for something else gets the first one that is free.

    Examples
    --------
    >>> from karat.service.campaign import DEFAULT_OPTIONS
    >>> keys_of(DEFAULT_OPTIONS, {"skip": "1", "answer 2": "j"})[1]
    ['4', 'j', '3']
    """
    actions = {**ACTIONS, **{name: key for name, key in own.items() if name in ACTIONS}}
    wished = [own.get(f"answer {place}", option.key.lower()) for place, option in enumerate(options, start=1)]
    taken = set(actions.values())
    usual = {option.key.lower() for option in options}  # a key never comes to mean another answer
    chosen: list[str] = []
    for place, key in enumerate(wished):
        later = set(wished[place + 1 :])
        free = key if key not in taken else next(spare for spare in _SPARE if spare not in taken | later | usual)
        taken.add(free)
        chosen.append(free)
    return actions, chosen


def check_keys(own: Mapping[str, str], projects: Iterable[tuple[str, Sequence[Option]]]) -> dict[str, str]:
    """Return keys as they are stored; one that would do two things in a project of the person is refused."""
    known = (*ACTIONS, *(f"answer {place}" for place in range(1, MOST_ANSWERS + 1)))
    keys = {}
    for name, key in own.items():
        _check.one_of("keys", name, known)
        if len(key) != 1 or not key.isprintable() or key.isspace():
            raise _check.refuse(name, "one character", key[:10])
        keys[name] = key.lower()
    _refuse_collisions({**ACTIONS, **keys}, "")
    for title, options in projects:
        answers = {f"answer {place}": option.key.lower() for place, option in enumerate(options, start=1)}
        mine = {name: key for name, key in keys.items() if name in ACTIONS or name in answers}
        _refuse_collisions({**ACTIONS, **answers, **mine}, f" in {title!r}")
    return keys


def _refuse_collisions(keys: Mapping[str, str], where: str) -> None:
    used: dict[str, str] = {}
    for name, key in keys.items():
        if key in used:
            raise _check.refuse(name, f"a key of its own{where}", key, f"It is the key of {used[key]!r}.")
        used[key] = name
