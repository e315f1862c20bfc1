"""Imports point one way: a module may import from lower layers and from its own package, never upwards."""

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LAYERS = (
    {"exceptions", "notebook", "papers"},
    {"arrays", "interrupts", "jit"},
    {"problem", "spatial"},
    {"multibody"},
    {"contact"},
    {"solving"},
    {"formulations", "solvers"},
    {"diagnosis", "io", "systems"},
    {"modelling"},
    {"config"},
    {"scene"},
    {"simulation"},
    {"view"},
    {"studies"},
    {"mcpframe"},
    {"commands"},
    {"cli"},
    {"__main__"},
)
"""Modules and rooms of mcpframe, lowest first; "mcpframe" is its front door, __init__.py."""

PLUGIN_FAMILIES = {"solvers", "formulations"}
FOR_PLUGINS = set().union(*LAYERS[: LAYERS.index({"solving"}) + 1])
"""What plugins may import from."""
KNOWS_PLUGINS = {f"mcpframe.solving.{name}" for name in ("registry", "solve", "batch")}
"""What they may not: it knows which plugins there are."""

RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
SOURCES = sorted(
    path for folder in ("mcpframe", "solvers", "formulations") for path in (ROOT / folder).rglob("*.py")
)


def owner(path):
    """The module or subpackage that a file belongs to."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "mcpframe" else parts
    return "mcpframe" if parts[0] == "__init__" else parts[0]


def statements(body):
    """All statements of a block, also inside functions, but for blocks that only a type checker reads."""
    for node in body:
        if not is_type_checking(node):
            yield node
            for block in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, block, ()))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from statements(part.body)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache  # several tests ask
def imported_names(path):
    """Full names of everything a file imports, also inside functions."""
    return list(_imported_names(path))


def _imported_names(path):
    for node in statements(ast.parse(path.read_text()).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_owners(path):
    """The modules and subpackages of mcpframe that a file imports from."""
    for name in imported_names(path):
        parts = name.split(".")
        if parts[0] == "mcpframe":
            yield parts[1] if len(parts) > 1 and parts[1] in RANK else "mcpframe"


def test_every_module_has_a_layer():
    assert {owner(path) for path in SOURCES} - RANK.keys() == set()


def test_imports_point_downwards():
    breaches = {
        (path.relative_to(ROOT).as_posix(), other)
        for path in SOURCES
        for other in imported_owners(path)
        if other != owner(path) and RANK[other] >= RANK[owner(path)]
    }
    assert breaches == set()


def test_the_framework_names_no_plugin_and_plugins_name_no_framework():
    for path in SOURCES:
        me, others = owner(path), set(imported_owners(path))
        if me in PLUGIN_FAMILIES:
            assert others - {me} <= FOR_PLUGINS, path
            assert not any(name.startswith(tuple(KNOWS_PLUGINS)) for name in imported_names(path)), path
        else:
            assert not others & PLUGIN_FAMILIES, path


def test_solvers_know_nothing_of_mechanics():
    mechanics = {"multibody", "contact", "spatial"}
    for path in (ROOT / "solvers").rglob("*.py"):
        assert not set(imported_owners(path)) & mechanics, path


@pytest.mark.parametrize("folder", ["mcpframe", "solvers", "formulations", "tests", "examples"])
def test_plugins_are_never_imported_by_their_bare_names(folder):
    for path in (ROOT / folder).rglob("*.py"):
        assert not {name.split(".")[0] for name in imported_names(path)} & PLUGIN_FAMILIES, path


def test_the_walk_sees_imports_inside_functions_and_not_those_of_type_checkers(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from mcpframe import hidden\n"
        "def f():\n    import mcpframe.solvers.lemke.method\n    from mcpframe import cli\n"
        "try:\n    pass\nexcept ImportError:\n    from mcpframe import view\n"
        "match f:\n    case None:\n        from mcpframe import scene\n"
    )
    assert set(imported_owners(path)) == {"solvers", "cli", "view", "scene"}
