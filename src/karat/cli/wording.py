"""What the library's arguments are called on the command line, for its errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_OTHER_NAMES = {
    "confidence_level": "confidence",
    "n_items": "items",
    "n_replicates": "replicates",
    "n_trials": "trials",
    "rank": "at",
}
"""Arguments of the library by the name that the parameter of a command has instead."""


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
