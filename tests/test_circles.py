"""No files import each other in a circle, not even for their types."""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.sources import ROOT, shipped

pytestmark = pytest.mark.once


def modules():
    return {name_of(path): path for path in shipped()}


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path):
    """What a file imports anywhere in it, also below `if TYPE_CHECKING`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


MODULES = modules()


def circle_in(imports):
    """The files of one circle; none if there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_file_leads_back_to_itself():
    imports = {name: MODULES.keys() & {*imported(path)} - {name} for name, path in MODULES.items()}
    assert len(imports) > 200
    assert circle_in(imports) == []
