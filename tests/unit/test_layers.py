"""The floor plan: imports go one way, siblings stay strangers, mathematics stays pure. Deferred imports count."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import karat

SOURCE = Path(karat.__file__).parent

# Lower rooms first; the rooms of one line are siblings. A new room needs a place here.
LAYERS = (
    ("errors",),
    ("_check", "_sql", "notebook"),
    ("math", "plotting", "results"),
    ("draws", "showing"),
    ("curves", "exact_curve", "bands", "forecast"),
    ("designs", "pool", "engines", "formats", "judges", "store", "gates", "metrics"),
    ("resources", "slices", "carried", "documents"),
    ("study", "measured", "judging", "topics"),
    ("simulation", "report", "service", "demo"),
    ("web",),
    ("cli", "pytest_plugin"),
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
TOP = {"__init__", "__main__"}  # the public names and the entry point: they may import anything

# A room and the one above it that it names in annotations only.
TYPES_ONLY = {("showing", "curves")}

# Imports inside `.plot` methods: pictures are made only when asked for.
DEFERRED_PLOTTING = {"curves", "exact_curve", "showing", "bands", "slices"}


def modules() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> list[tuple[int, str, str | None]]:
    """Return (line, module, name) of every import anywhere in a file, also inside functions and TYPE_CHECKING."""
    found: list[tuple[int, str, str | None]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} is a relative import"
            found += [(node.lineno, node.module or "", alias.name) for alias in node.names]
    return found


def lines_for_types(path: Path) -> set[int]:
    """Return the lines inside `if TYPE_CHECKING:`, which never run."""
    blocks = (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {line for block in blocks for line in range(block.lineno, (block.end_lineno or 0) + 1)}


def target_room(module: str, name: str | None) -> str | None:
    """Return the room of karat that an import reaches into; None for other libraries, "" for the package itself."""
    parts = module.split(".")
    if parts[0] != "karat":
        return None
    if len(parts) > 1:
        return parts[1]
    return name or ""


PATHS = [path for path in modules() if room_of(path) not in TOP]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    assert room in LEVEL, f"'{room}' has no place in the floor plan: add it to LAYERS in {Path(__file__).name}"
    for line, module, name in imports(path):
        target = target_room(module, name)
        if target is None or target == room:
            continue
        where = f"{path.relative_to(SOURCE)}:{line}"
        if target == "":
            assert room in {"cli", "web"}, f"{where} imports the package through its __init__"
            continue
        assert target in LEVEL, f"{where} imports karat.{target}, which has no place in the floor plan"
        if target == "plotting" and room in DEFERRED_PLOTTING:
            continue
        if (room, target) in TYPES_ONLY and line in lines_for_types(path):
            continue
        assert LEVEL[target] < LEVEL[room], f"{where}: '{room}' may not import '{target}'"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_names_come_from_the_module_that_defines_them(path):
    """`from karat import x` is for modules only, never for the public names of `__init__`."""
    for line, module, name in imports(path):
        if module == "karat" and name is not None:
            target = SOURCE / name
            assert target.is_dir() or target.with_suffix(".py").is_file(), f"{path.name}:{line} imports karat.{name}"
        elif module.split(".")[0] == "karat" and name is not None:
            folder = SOURCE.joinpath(*module.split(".")[1:])
            if folder.is_dir():
                inside = folder / name
                assert inside.is_dir() or inside.with_suffix(".py").is_file(), (
                    f"{path.name}:{line} imports {name} through {module}/__init__.py"
                )


@pytest.mark.parametrize("path", [p for p in PATHS if room_of(p) == "math"], ids=lambda path: path.stem)
def test_mathematics_stays_pure(path):
    """numpy, scipy and numba only; no files (mmap gives memory), clock or logging."""
    allowed = {"numpy", "scipy", "numba", "karat", "__future__", "math", "typing", "collections", "dataclasses",
               "decimal", "fractions", "functools", "itertools", "enum", "numbers", "operator", "abc",
               "types", "threading", "warnings", "mmap"}  # fmt: skip
    for line, module, _ in imports(path):
        assert module.split(".")[0] in allowed, f"{path.name}:{line} imports {module}"
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
    assert not named & {"open", "print", "input"}


def test_the_packages_own_folders_run_nothing():
    for path in modules():
        if path.name == "__init__.py" and path.parent != SOURCE:
            body = ast.parse(path.read_text()).body
            assert all(isinstance(node, (ast.Expr, ast.ImportFrom, ast.Assign)) for node in body), path


def test_asserts_are_no_validation():
    """`assert` may tell the type checker something, never check an argument: it vanishes under -O."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert):
                text = ast.unparse(node.test)
                assert text.endswith("is not None") or text.startswith("isinstance("), f"{path}:{node.lineno}: {text}"


def test_a_wrong_import_would_be_noticed(tmp_path):
    """The wrong variant: mathematics that reaches up, hidden in a function."""
    path = tmp_path / "bad.py"
    path.write_text("def f():\n    from karat.study import Study\n    return Study\n")
    ((line, module, name),) = imports(path)
    assert (line, target_room(module, name)) == (2, "study")
    assert LEVEL["study"] > LEVEL["math"]
