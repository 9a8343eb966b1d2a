"""docs/plugins.md builds a plugin from nothing, which runs beside an unchanged checkout."""

import os
import re
import subprocess
import sys

import pytest

from tests.checkout import SECRET
from tests.sources import ROOT

pytestmark = pytest.mark.once

PAGE = (ROOT / "docs" / "plugins.md").read_text()
FILES = dict(re.findall(r"^`(packing/[\w.]+)`.*?^```\w+\n(.*?)^```", PAGE, re.S | re.M))
USE = """
from tests.factories import PASSWORD
from tests.own_data import own_data


def test_it_is_used(api, trip, olga, ed, vera):
    path = f"/api/trips/{trip.pk}/packing"
    made = api(ed).post(path, {"name": "Tent"})
    assert made.status_code == 201
    assert api(vera).post(path, {"name": "Stove"}).status_code == 403
    assert api(ed).post(path, {"nmae": "Stove"}).status_code == 400
    assert [row["name"] for row in api(vera).get(path).json()["items"]] == ["Tent"]
    news = api(vera).get(f"/api/trips/{trip.pk}/history")
    if news.status_code != 404:  # no other plugin must be there
        assert news.json()["items"][0]["text"] == "Ed Editor added something to pack."
    assert own_data(ed)["packing"][0]["name"] == "Tent"
    assert api(vera).delete(made["Location"]).status_code == 403
    tool = {"name": "add_thing", "arguments": {"trip": trip.title, "name": "Map"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    answer = api(ed).post("/api/mcp", call)
    if answer.status_code != 404:
        assert answer.json()["result"]["structuredContent"]["name"] == "Map"
    assert api(olga).delete(made["Location"]).status_code == 204


def test_clients_learn_of_it(api, trip, olga, ed):
    first = api(olga).get("/api/changes")
    if first.status_code == 404:
        return
    cursor = first.json()["cursor"]
    api(ed).post(f"/api/trips/{trip.pk}/packing", {"name": "Tent"})
    [news] = api(olga).get(f"/api/changes?since={cursor}").json()["items"]
    assert (news["object"]["type"], news["state"]["name"]) == ("packing", "Tent")


def test_it_forgets_an_account(api, trip, olga, ed):
    made = api(ed).post(f"/api/trips/{trip.pk}/packing", {"name": "Tent"}).json()
    assert api(ed).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    [row] = api(olga).get(f"/api/trips/{trip.pk}/packing").json()["items"]
    assert (row["id"], row["name"]) == (made["id"], "")
"""

#: The commands of the page and the suite, in one process: each would start for seconds.
SCRIPT = """
import importlib, os, sys

import django, pytest
from django.core.management import call_command

os.environ["DJANGO_SETTINGS_MODULE"] = "tripcompanion.settings"
django.setup()
call_command("makemigrations", "packing")
importlib.invalidate_caches()
call_command("makemigrations", check_changes=True)
call_command("spectacular", validate=True, fail_on_warn=True, file=os.devnull)
suite = ["-q", "-n0", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
sys.exit(pytest.main([*suite, "tests/test_every_plugin.py", {test!r}]))
"""


def test_the_page_is_short():
    assert len(FILES) == 6
    assert sum(len(text.splitlines()) for text in FILES.values()) < 165


def test_a_plugin_of_the_page_keeps_what_all_keep(tmp_path):
    (tmp_path / "packing").mkdir()
    (tmp_path / "packing" / "__init__.py").touch()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "test_packing.py").write_text(USE)
    environment = {
        **{name: value for name, value in os.environ.items() if "XDIST" not in name},
        "DEBUG": "true",
        "SECRET_KEY": SECRET,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "PLUGINS": "+packing",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
    }
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(test=str(tmp_path / "test_packing.py")))
    done = subprocess.run(
        [sys.executable, script], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
