"""A program that people use to sync calendars, against the real server."""

import subprocess
import sys
from pathlib import Path

import vobject

from plugins.calendar.tests.conftest import with_plugin
from tests.splits.journey import Journey

#: What vdirsyncer is told: the calendar is copied into a folder, a file for each entry.
CONFIG = """
[general]
status_path = "{folder}/status"

[pair trip]
a = "theirs"
b = "ours"
collections = null
conflict_resolution = "a wins"

[storage theirs]
type = "http"
url = "{url}"

[storage ours]
type = "filesystem"
path = "{folder}/copy"
fileext = ".ics"
"""


def synced(folder, *commands):
    """The status of each entry by its title, after these commands of vdirsyncer."""
    for command in commands:
        done = subprocess.run(
            [Path(sys.executable).with_name("vdirsyncer"), "-c", folder / "config", command],
            input="y\n" * 9,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    found = [vobject.readOne(path.read_text()) for path in (folder / "copy").glob("*.ics")]
    return {
        one.vevent.summary.value: one.vevent.contents["status"][0].value
        if "status" in one.vevent.contents
        else ""
        for one in found
    }


@with_plugin("itinerary")
def test_a_copy_follows_what_happens_to_the_plan(server, traveller, tmp_path):
    owner, trip = traveller, Journey.start(traveller)
    title = owner.done("GET", trip.path)["title"]
    activities = f"{trip.path}/activities"
    castle, beach = (
        owner.done("POST", activities, {"title": name, "date": "2026-05-14", "startTime": "09:30"})
        for name in ("Castle; and 🏰, Peacocks", "Beach")
    )
    url = owner.done("POST", f"{trip.path}/calendar-link")["url"]
    # The server of a test has another port than the address of the service.
    url = f"{server.url}/api/{url.partition('/api/')[2]}"
    (tmp_path / "config").write_text(CONFIG.format(folder=tmp_path, url=url))
    (tmp_path / "copy").mkdir()
    confirmed = {castle["title"]: "CONFIRMED", "Beach": "CONFIRMED"}
    assert synced(tmp_path, "discover", "sync") == {title: "", **confirmed}
    assert synced(tmp_path, "sync") == {title: "", **confirmed}
    owner.done("PATCH", f"{activities}/{castle['id']}", {"title": "Tower"})
    owner.done("DELETE", f"{activities}/{beach['id']}")
    assert synced(tmp_path, "sync") == {title: "", "Tower": "CONFIRMED", "Beach": "CANCELLED"}
