"""The units in deploy/systemd are valid, hardened, and run every job of the compose file."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.server import ROOT

pytestmark = pytest.mark.once

UNITS = ROOT / "deploy" / "systemd"
INSTALLED = "/opt/tripcompanion/.venv/bin/python"
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
JOBS = sorted(path.stem for path in UNITS.glob("*.timer"))
#: systemd's scale of exposure ends at 10; below 2 it says OK. The option takes tenths.
MAX_EXPOSURE_TENTHS = 20
needs_systemd = pytest.mark.needs("systemd-analyze")


@pytest.fixture
def folder(tmp_path):
    """The units, which call this Python instead of the installed one."""
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*.service"):
        path.write_text(path.read_text().replace(INSTALLED, sys.executable))
    return tmp_path


def analyze(*arguments):
    """What systemd-analyze says; fails the test if it finds a fault."""
    done = subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_systemd
def test_systemd_accepts_the_units(folder):
    units = [str(path) for path in folder.iterdir() if path.is_file()]
    assert len(units) == len(SERVICES) + len(JOBS) + 1
    said = analyze("verify", "--man=no", "--recursive-errors=yes", *units)
    # It ignores what it does not understand, with a message.
    assert str(folder) not in said


@needs_systemd
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_few_rights(folder, name):
    limit = f"--threshold={MAX_EXPOSURE_TENTHS}"
    analyze("security", "--offline=yes", "--no-pager", limit, str(folder / name))


def test_every_job_of_the_compose_file_has_a_timer():
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    jobs = {name: one for name, one in compose.items() if "jobs" in one.get("profiles", [])}
    assert sorted(f"tripcompanion-{name}" for name in jobs) == JOBS
    for name in jobs:
        [command] = re.findall(r"manage\.py ([^;]+);", jobs[name]["command"][2])
        command = command.replace("/backups", "${STATE_DIRECTORY}")
        unit = (UNITS / f"tripcompanion-{name}.service").read_text()
        assert f"ExecStart={INSTALLED} manage.py {command}\n" in unit


def test_the_server_has_longer_to_stop_than_it_needs():
    [needed] = re.findall(
        r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.M
    )
    unit = (UNITS / "tripcompanion-web.service").read_text()
    [given] = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.M)
    assert int(given) > int(needed)
