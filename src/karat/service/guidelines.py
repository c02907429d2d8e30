"""Guidelines in Markdown become a tree of harmless elements, which the page builds without ever parsing HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown_it.token import Token

TAGS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr",
        "br", "a", "table", "thead", "tbody", "tr", "th", "td", "s")  # fmt: skip
Node = str | dict[str, Any]


def render(markdown: str) -> list[Node]:
    """Return Markdown as texts and elements: ``{"tag", "children"}``, a link with its ``href``.

    HTML inside it stays text, images become their description, links lead only to http, https or mailto.

    Examples
    --------
    >>> render("A *fact*.<script>")
    [{'tag': 'p', 'children': ['A ', {'tag': 'em', 'children': ['fact']}, '.<script>']}]
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return _build(parser.parse(markdown))


def _build(tokens: Iterable[Token]) -> list[Node]:
    root: dict[str, Any] = {"tag": "", "children": []}
    stack = [root]
    for token in tokens:
        siblings = stack[-1]["children"]
        if token.nesting == 1:
            siblings.append(_open(token))
            stack.append(siblings[-1])
        elif token.nesting == -1:
            stack.pop()
        else:
            siblings.extend(_leaf(token))
    children: list[Node] = root["children"]
    return children


def _open(token: Token) -> dict[str, Any]:
    href = str(token.attrGet("href") or "")
    if token.tag == "a" and _is_harmless(href):
        return {"tag": "a", "href": href, "children": []}
    # a hidden paragraph is that of a tight list
    return {"tag": token.tag if token.tag in TAGS and token.tag != "a" and not token.hidden else "span", "children": []}


def _leaf(token: Token) -> list[Node]:
    code: Node = {"tag": "code", "children": [token.content]}
    if token.type == "inline":
        return _build(token.children or ())
    if token.type in {"fence", "code_block"}:
        return [{"tag": "pre", "children": [code]}]
    if token.type == "code_inline":
        return [code]
    if token.type == "softbreak":
        return ["\n"]
    if token.tag in {"br", "hr"}:
        return [{"tag": token.tag, "children": []}]
    return [token.content] if token.content else []


def _is_harmless(href: str) -> bool:
    try:
        return urlsplit(href).scheme in {"http", "https", "mailto"}
    except ValueError:
        return False
