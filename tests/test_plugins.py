"""Plugins come off: the core names none, and none names another one that it does not require."""

import ast
import re
from pathlib import Path

import pytest

from tests.checkout import LOAD, SECRET, run, with_event
from tests.sources import CORE, ROOT, shipped
from tests.test_floors import imported
from tripcompanion.plugin import plugins

pytestmark = pytest.mark.once

OPTIONAL = [app for app in plugins() if app.name not in CORE]


def texts(path):
    """The strings in a file, docstrings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_core_names_no_plugin():
    named = re.compile(r"\bplugins[./]\w+")
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in shipped(*CORE)
        if path != ROOT / "tripcompanion" / "settings.py"
        for text in (*texts(path), *imported(path))
        for name in named.findall(text.replace("django_otp.plugins", ""))
    }
    assert found == set()


def test_no_test_of_the_core_names_a_plugin():
    named = re.compile("|".join(rf"\bplugins[./]{app.label}\b" for app in OPTIONAL) or "(?!)")
    files = (ROOT / "tests").rglob("*.py")
    assert [str(path) for path in files if named.search(path.read_text())] == []


@pytest.mark.parametrize("app", OPTIONAL, ids=lambda app: app.label)
def test_a_plugin_imports_only_what_it_requires(app):
    folder = Path(app.path).relative_to(ROOT).as_posix()
    found = {
        ".".join(name.split(".")[:2])
        for path in shipped(folder)
        for name in imported(path)
        if name.startswith("plugins.") and not f"{name}.".startswith(f"{app.name}.")
    }
    shared = {f"plugins.{path.stem}" for path in Path(app.path).parent.glob("[!_]*.py")}
    assert found <= shared | set(app.requires)


@pytest.mark.parametrize("app", OPTIONAL, ids=lambda app: app.label)
def test_what_a_plugin_requires_is_installed_before_it(app):
    names = [other.name for other in OPTIONAL]
    assert all(names.index(name) < names.index(app.name) for name in app.requires)


def test_without_what_it_requires_the_service_does_not_start(project):
    app = next(app for app in OPTIONAL if app.requires)
    code = f"{LOAD}; import django; django.setup()"
    done = run(project, "-c", code, SECRET_KEY=SECRET, PLUGINS=app.name)
    assert done.returncode != 0
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith(f"Configuration error: PLUGINS: {app.name} requires plugins.")


@pytest.mark.parametrize("event", ["storm.seen_from_the_beach", "storm", "Storm.seen"])
def test_with_an_event_that_no_column_takes_the_service_does_not_start(project, event):
    names = with_event(project, event)
    code = f"{LOAD}; import django; django.setup()"
    done = run(project, "-c", code, SECRET_KEY=SECRET, PLUGINS=names)
    assert (done.returncode != 0, done.stdout) == (True, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"Configuration error: PLUGINS: plugins.weather has the event {event};")


def test_the_core_starts_alone(project):
    done = run(project, "manage.py", "check", SECRET_KEY=SECRET, PLUGINS="")
    assert done.returncode == 0, done.stderr


#: Reads every list of the admin site as an administrator.
ADMIN_SITE = """
import django
django.setup()
from django.contrib import admin
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from users.models import User
call_command("migrate", verbosity=0)
ada = User.register("ada@example.com", "correct-horse-four-green", role="ADMIN")
client = Client()
client.force_login(ada)
names = [f"{m._meta.app_label}_{m._meta.model_name}" for m in admin.site._registry]
urls = [reverse(f"admin:{name}_changelist") for name in names]
urls += ["/admin/", reverse("admin:users_user_change", args=[ada.pk])]
print(sorted(names), {client.get(url).status_code for url in urls})
"""


def test_the_core_alone_shows_its_rows_in_the_admin_site(project):
    variables = {"DATABASE_URL": "sqlite://:memory:", "ALLOWED_HOSTS": "testserver"}
    done = run(project, "-c", f"{LOAD}\n{ADMIN_SITE}", SECRET_KEY=SECRET, PLUGINS="", **variables)
    names = ["splits_expense", "splits_settlement", "trips_member", "trips_trip", "users_user"]
    assert done.stdout.splitlines()[-1:] == [f"{names} {{200}}"], done.stderr
