"""What `karat --help` says of each command, read from its file: importing all of them would take seconds."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path


def summary_of(module: str) -> str:
    """Return the docstring of a command's ``run``, or the help of a group's application.

    Examples
    --------
    >>> summary_of("plan").splitlines()[0]
    'Say how many labels a method needs.'
    >>> summary_of("pool")
    'Score many systems from one pool of labels, kept in a folder.'
    """
    tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "run":
            return inspect.cleandoc(ast.get_docstring(node) or "")
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for word in node.value.keywords:
                if word.arg == "help" and ast.unparse(node.targets[0]) == "group":
                    return str(ast.literal_eval(word.value))
    raise LookupError(module)
