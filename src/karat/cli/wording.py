"""What the library's arguments are called on the command line, for its errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from karat import _check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OTHER_NAMES = {
    "confidence_level": "confidence",
    "n_items": "items",
    "n_replicates": "replicates",
    "n_trials": "trials",
    "rank": "at",
}
"""Arguments of the library by the name that the parameter of a command has instead."""


def explain_number(text: str, arguments: Sequence[str]) -> str:
    """Return an error about an option whose number cannot be read, with what was given and what is expected.

    Examples
    --------
    >>> text = "Invalid value for '--price': Input should be a valid number, unable to parse string as a number"
    >>> explain_number(text, ["--price", "0,1"])
    "'--price' must be a number with a point, as in 0.1; got '0,1'."
    """
    found = re.match(r"Invalid value for '(-[\w-]+)'.*parse string as an? (number|integer)", text)
    given = re.search(rf"(?:^|\n){found[1]}[\n=](.*)", "\n".join(arguments)) if found else None
    if found is None or given is None:
        return text
    option, value = found[1], given[1]
    return str(
        _check.no_number(option, value) if found[2] == "number" else _check.refuse(option, "a whole number", value)
    )


def name_options(text: str, command: Any, also: Mapping[str, str]) -> str:
    """Return an error of a command in which the library's arguments are named as the command names them.

    A column may be called as an argument is: it keeps its name.
    """
    names = {
        parameter.name.removeprefix("method_"): max(parameter.opts, key=len)
        if parameter.param_type_name == "option"
        else parameter.name.upper()
        for parameter in command.params
    }
    for name, own in _OTHER_NAMES.items():
        if own in names:
            names.setdefault(name, names[own])
    for name, option in {**names, **also}.items():
        text = re.sub(rf"(?<!column )'{name}'(?= must| and | or )|\b{name}=(True|False)", f"'{option}'", text)
        text = text.replace(f"pass '{option}'", f"give {option}")
    return text
