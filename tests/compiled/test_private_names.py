"""The README of the compiled layer lists every private name that it uses, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

LAYER = Path(__file__).resolve().parents[2] / "tripcompanion" / "compiled"
PAGE = LAYER / "README.md"
MODULES = re.findall(r"^\| `(\w+\.py)` \|", PAGE.read_text(), re.MULTILINE)

#: Modules whose names the manuals of Django, DRF and psycopg list.
DOCUMENTED_MODULES = {
    *("django.conf", "django.db", "django.db.models"),
    *("rest_framework", "psycopg"),
}
#: Variables that hold an internal object, by the name that they have throughout the layer.
INTERNAL = {"compiler", "database", "lookup", "query"}
#: What the manuals say of these objects, and Python of a named tuple.
DOCUMENTED = {"connection", "cursor", "vendor", "_meta", "_replace"}


def undocumented(module: str) -> Iterator[str]:
    tree = ast.parse((LAYER / module).read_text())
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module not in DOCUMENTED_MODULES:
            if str(node.module).startswith(("django", "rest_framework", "psycopg")):
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and node.attr not in DOCUMENTED:
            owner = getattr(node.value, "id", getattr(node.value, "attr", ""))
            is_private = node.attr.startswith("_") and not node.attr.endswith("__")
            is_foreign = is_private and owner not in {"self", "cls"} and node.attr not in own
            if is_foreign or owner in INTERNAL or node.attr == "query":
                yield node.attr


def listed() -> set[tuple[str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| \S+ \| `(\w+\.py)` \|", PAGE.read_text(), re.MULTILINE)
    return {(module, name) for name, module in rows}


@pytest.mark.parametrize("module", MODULES)
def test_the_table_lists_what_is_not_documented(module: str) -> None:
    assert set(undocumented(module)) == {name for at, name in listed() if at == module}


def test_the_page_names_every_module_that_it_lists_names_of() -> None:
    assert {module for module, _name in listed()} <= set(MODULES)
    assert len(MODULES) == 5


def test_versions_are_bounded() -> None:
    project = (LAYER.parent.parent / "pyproject.toml").read_text()
    for package in ("django", "djangorestframework", r"psycopg\[binary\]"):
        assert re.search(rf'"{package}>=[0-9.]+,<[0-9.]+"', project), package
