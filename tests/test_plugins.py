"""Plugins come off: the core names none, and none names another one that it does not require."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import LOAD, SECRET, run, with_event
from tests.sources import CORE, ROOT, shipped
from tests.test_circles import imported
from tripcompanion.plugin import Plugin, plugins

pytestmark = pytest.mark.once

OPTIONAL = [app for app in plugins() if app.name not in CORE]


def texts(path: Path) -> Iterator[str]:
    """The strings in a file, docstrings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_core_names_no_plugin() -> None:
    named = re.compile(r"\bplugins[./]\w+")
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in shipped(*CORE)
        if path != ROOT / "tripcompanion" / "settings.py"
        for text in (*texts(path), *imported(path))
        for name in named.findall(text.replace("django_otp.plugins", ""))
    }
    assert found == set()


@pytest.mark.parametrize("app", OPTIONAL, ids=lambda app: app.label)
def test_a_plugin_imports_only_what_it_requires(app: Plugin) -> None:
    folder = Path(app.path).relative_to(ROOT).as_posix()
    found = {
        ".".join(name.split(".")[:2])
        for path in shipped(folder)
        for name in imported(path)
        if name.startswith("plugins.") and not f"{name}.".startswith(f"{app.name}.")
    }
    assert found <= set(app.requires)


@pytest.mark.parametrize("app", OPTIONAL, ids=lambda app: app.label)
def test_what_a_plugin_requires_is_installed_before_it(app: Plugin) -> None:
    names = [other.name for other in OPTIONAL]
    assert all(names.index(name) < names.index(app.name) for name in app.requires)


def test_without_what_it_requires_the_service_does_not_start(project: Path) -> None:
    app = next(app for app in OPTIONAL if app.requires)
    code = f"{LOAD}; import django; django.setup()"
    done = run(project, "-c", code, SECRET_KEY=SECRET, PLUGINS=app.name)
    assert done.returncode != 0
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"Configuration error: PLUGINS: {app.name} requires plugins.")


@pytest.mark.parametrize("event", ["storm.seen_from_the_beach", "storm", "Storm.seen"])
def test_with_an_event_that_no_column_takes_the_service_does_not_start(
    project: Path, event: str
) -> None:
    names = with_event(project, event)
    code = f"{LOAD}; import django; django.setup()"
    done = run(project, "-c", code, SECRET_KEY=SECRET, PLUGINS=names)
    assert (done.returncode != 0, done.stdout) == (True, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"Configuration error: PLUGINS: plugins.weather has the event {event};")


def test_the_core_starts_alone(project: Path) -> None:
    done = run(project, "manage.py", "check", SECRET_KEY=SECRET, PLUGINS="")
    assert done.returncode == 0, done.stderr
