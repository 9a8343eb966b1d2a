"""Mutants generated from the code: every cell of the table of roles, every constraint."""

import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.db.migrations.loader import MigrationLoader

from tests.mutations.mutant import ROOT, Mutant
from tests.trips.rows import ROWS
from tests.walked import all_of
from trips.roles import TABLE, Access

#: Not a test that reads the table itself: the change must be detected over HTTP.
_ROLE_TEST = "tests/test_permissions.py::test_each_caller_may_do_what_the_table_says"
#: Of what no endpoint asks for alone.
_TABLE_TEST = "tests/test_permissions.py::test_the_table_of_roles_is_the_promised_one"
_CONSTRAINT_TESTS = " ".join(
    ["tests/splits/test_constraints.py tests/security/test_stored.py", *all_of("CONSTRAINT_TESTS")]
)
_WITHOUT = '''"""A constraint is dropped."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = {leaves!r}
    operations = [migrations.RemoveConstraint({model!r}, {constraint!r})]
'''


def role_cells() -> Iterator[Mutant]:
    """Each cell of the table with another access: NONE if it was ANY, otherwise ANY."""
    for can in TABLE:
        shown = next((row for row in ROWS if row.can is can), None)
        test = f"{_ROLE_TEST}[{shown}]" if shown else _TABLE_TEST
        file = Path(inspect.getfile(type(can))).relative_to(ROOT)
        row = rf"\b{type(can).__name__}\.{can.name}: +({_ROW})"
        line = re.search(row, (ROOT / file).read_text())
        if line is None:
            raise LookupError(f"{file} has no row for {can}")
        for at, (role, access) in enumerate(TABLE[can].items()):
            wrong = "NONE" if access is Access.ANY else "ANY"
            new = line[0].replace(line[1], _with_cell(line[1], at, role, wrong))
            name = f"{type(can).__name__}.{can.name} of {role}: {access.name} becomes {wrong}"
            yield Mutant(name, str(file), line[0], new, shlex.quote(test))


#: Cells, the row of another capability, or a dictionary.
_ROW = r"\(.+\)|\{.+\}|[\w.]+(?:\[.+?\]|\(.+?\))"


def _with_cell(row: str, at: int, role: str, access: str) -> str:
    """The code of a row with another access for a role."""
    if row.startswith("("):
        cells = row.strip("()").replace(" ", "").split(",")
        return f"({', '.join([*cells[:at], access, *cells[at + 1 :]])})"
    return f'{{**{row}, "{role}": __import__("trips.roles").roles.{access}}}'


def constraints() -> Iterator[Mutant]:
    """Each named constraint, dropped by one more migration."""
    leaves = MigrationLoader(None).graph.leaf_nodes()
    for model in apps.get_models():
        label = model._meta.app_label
        folder = Path(apps.get_app_config(label).path) / "migrations"
        if not folder.is_relative_to(ROOT) or ".venv" in folder.parts:
            continue
        for constraint in model._meta.constraints:
            file = folder.relative_to(ROOT) / "9999_without.py"
            text = _WITHOUT.format(
                leaves=leaves, model=model._meta.model_name, constraint=constraint.name
            )
            name = f"constraint {constraint.name}"
            yield Mutant(name, str(file), "", text, _CONSTRAINT_TESTS)
