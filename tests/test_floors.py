"""Imports lead in no circle; models, migrations and look-ups lead down only, as imports do.

Any app may name `AUTH_USER_MODEL`, as Django's own do.
"""

import ast
import tomllib
from graphlib import TopologicalSorter

import pytest
from django.apps import apps
from django.db.migrations.loader import MigrationLoader

from tests.sources import ROOT, shipped

pytestmark = pytest.mark.once

#: Migrations that depend on a higher app, because foreign keys led there once.
HISTORY = {"users.0002_mail_of_1_0_0 -> trips", "users.0002_mail_of_1_0_0 -> splits"}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in shipped()
}


def imported(path):
    """What a file imports anywhere in it, also below `if TYPE_CHECKING`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def test_no_file_leads_back_to_itself():
    imports = {name: MODULES.keys() & {*imported(path)} - {name} for name, path in MODULES.items()}
    assert len(imports) > 200
    TopologicalSorter(imports).prepare()


def floors():
    """The packages in the layers that import-linter checks; the lowest is 0."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = configuration["tool"]["importlinter"]["contracts"][0]["layers"]
    return {
        name.strip(" ()"): floor
        for floor, layer in enumerate(reversed(layers))
        for name in layer.split("|")
    }


FLOORS = floors()


def floor_of(module):
    """The floor of the package that contains the module; None if it is not ours."""
    names = [name for name in FLOORS if f"{module}.".startswith(f"{name}.")]
    return max((FLOORS[name] for name in names), default=None)


#: The floors of our apps, by their labels.
APPS = {
    app.label: floor for app in apps.get_app_configs() if (floor := floor_of(app.name)) is not None
}


def relations():
    """The foreign keys: each with its app, and the app to which it leads."""
    for model in apps.get_models():
        for field in model._meta.get_fields():
            is_own = not field.auto_created and field.related_model is not None
            if is_own and not getattr(field, "swappable_setting", None):
                label = field.related_model._meta.app_label
                yield f"{model._meta.label}.{field.name}", model._meta.app_label, label


def dependencies():
    for (app, name), migration in MigrationLoader(None).disk_migrations.items():
        for dependency in migration.dependencies:
            if not hasattr(dependency, "setting"):
                yield f"{app}.{name} -> {dependency[0]}", app, dependency[0]


def climbing(found):
    return {
        name
        for name, app, label in found
        if app in APPS and label in APPS and APPS[label] > APPS[app]
    }


def test_no_model_points_up():
    assert APPS.keys() >= {"users", "trips", "splits", "mail", "kit"}
    assert len(list(relations())) > 20
    assert climbing(relations()) == set()


def test_no_migration_depends_on_a_higher_app_but_for_history():
    assert climbing(dependencies()) == HISTORY


def test_no_model_of_a_higher_app_is_looked_up():
    found = []
    for module, path in MODULES.items():
        floor = floor_of(module)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get_model":
                label = str(getattr(node.args[0], "value", "")).partition(".")[0]
                if floor is not None and APPS.get(label, floor) > floor:
                    found.append(f"{module}: {label}")
    assert found == []
