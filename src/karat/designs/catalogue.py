"""All methods by name; each is imported when it is asked for."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from karat import _check

if TYPE_CHECKING:
    from karat.designs.base import Design, Identify, Method, Proxy
    from karat.draws import Draw, Labels

METHODS = {"certify": "Certify", "paula": "Paula", "stratified": "Stratified", "uniform": "Uniform", "point": "Point"}


def make_method(name: str, **parameters: Any) -> Method:
    """Return the method with these parameters; those it does not have are refused.

    Examples
    --------
    >>> make_method("paula", epsilon=0.05)
    Paula(epsilon=0.05, window=100, stable_after=None)
    """
    kind = _find(name)
    known = parameters_of(name)
    for parameter in parameters:
        if parameter not in known:
            raise _check.refuse("parameter", f"one that {name} has ({', '.join(known)})", parameter)
    method: Method = kind(**parameters)
    return method


def parameters_of(name: str) -> list[str]:
    """Return the names of a method's parameters."""
    return [field.name for field in fields(_find(name))]


def _find(name: str) -> Any:
    class_name = METHODS[_check.one_of("method", name, METHODS)]
    return getattr(import_module(f"karat.designs.{name}"), class_name)


def resume(draw: Draw, labels: Labels, *, identify: Identify | None = None, proxy: Proxy | None = None) -> Design:
    """Take up a design from its two documents."""
    return make_method(draw.method, **draw.parameters).resume(draw, labels, identify=identify, proxy=proxy)
