"""All methods by name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from karat import _check
from karat.designs.certify import Certify
from karat.designs.paula import Paula
from karat.designs.point import Point
from karat.designs.stratified import Stratified
from karat.designs.uniform import Uniform

if TYPE_CHECKING:
    from karat.designs.base import Design, Identify, Method, Proxy
    from karat.draws import Draw, Labels

METHODS: dict[str, type[Certify | Paula | Stratified | Uniform | Point]] = {
    method.name: method for method in (Certify, Paula, Stratified, Uniform, Point)
}


def make_method(name: str, **parameters: Any) -> Method:
    """Return the method with these parameters; those it does not have are refused.

    Examples
    --------
    >>> make_method("paula", epsilon=0.05)
    Paula(epsilon=0.05, window=100, stable_after=None)
    """
    kind = METHODS[_check.one_of("method", name, METHODS)]
    known = [field.name for field in fields(kind)]
    for parameter in parameters:
        if parameter not in known:
            raise _check.refuse("parameter", f"one that {name} has ({', '.join(known)})", parameter)
    return kind(**parameters)


def resume(draw: Draw, labels: Labels, *, identify: Identify | None = None, proxy: Proxy | None = None) -> Design:
    """Take up a design from its two documents."""
    return make_method(draw.method, **draw.parameters).resume(draw, labels, identify=identify, proxy=proxy)
