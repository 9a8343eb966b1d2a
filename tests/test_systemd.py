"""The units in deploy/systemd are valid, hardened, and run every job of the compose file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from tests.server import ROOT, Server

UNITS = ROOT / "deploy" / "systemd"
INSTALLED = "/opt/tripcompanion/.venv/bin/python"
SERVICES = sorted(path.name for path in UNITS.glob("*.service"))
JOBS = sorted(path.stem for path in UNITS.glob("*.timer"))
#: systemd's scale of exposure ends at 10; below 2 it says OK. The option takes tenths.
MAX_EXPOSURE_TENTHS = 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The units, which call this Python instead of the installed one."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*.service"):
        path.write_text(path.read_text().replace(INSTALLED, sys.executable))
    return tmp_path


def analyze(*arguments: str) -> str:
    """What systemd-analyze says; fails the test if it finds a fault."""
    done = subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_systemd_accepts_the_units(folder: Path) -> None:
    units = [str(path) for path in folder.iterdir() if path.is_file()]
    assert len(units) == len(SERVICES) + len(JOBS) + 1
    said = analyze("verify", "--man=no", "--recursive-errors=yes", *units)
    # It ignores what it does not understand, with a message.
    assert str(folder) not in said


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_few_rights(folder: Path, name: str) -> None:
    limit = f"--threshold={MAX_EXPOSURE_TENTHS}"
    analyze("security", "--offline=yes", "--no-pager", limit, str(folder / name))


def test_every_job_of_the_compose_file_has_a_timer() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    jobs = {name: one for name, one in compose.items() if "jobs" in one.get("profiles", [])}
    assert sorted(f"tripcompanion-{name}" for name in jobs) == JOBS
    for name in jobs.keys() - {"backup"}:
        [command] = re.findall(r"manage\.py ([^;]+);", jobs[name]["command"][2])
        unit = (UNITS / f"tripcompanion-{name}.service").read_text()
        assert f"ExecStart={INSTALLED} manage.py {command}\n" in unit


def test_the_server_has_longer_to_stop_than_it_needs() -> None:
    [needed] = re.findall(
        r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.M
    )
    unit = (UNITS / "tripcompanion-web.service").read_text()
    [given] = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.M)
    assert int(given) > int(needed)


@pytest.mark.skipif(
    not settings.DATABASE_URL.startswith("postgres"), reason="pg_dump reads PostgreSQL"
)
def test_a_backup_is_a_complete_dump(server: Server, tmp_path: Path) -> None:
    """As systemd runs the command: `$$` is a dollar sign, `%%` a percent sign."""
    program = backup_program()
    if not shutil.which("pg_dump"):
        pytest.skip("pg_dump is not installed")
    places = {
        "STATE_DIRECTORY": str(tmp_path),
        "DATABASE_URL": server.environment["DATABASE_URL"],
    }
    subprocess.run(["/bin/bash", "-c", program], env=os.environ | places, check=True)
    [dump] = tmp_path.iterdir()
    assert re.fullmatch(r"tripcompanion-\d{8}T\d{6}Z\.dump", dump.name)
    listed = subprocess.run(
        ["pg_restore", "--list", str(dump)], capture_output=True, text=True, check=True
    )
    assert "TABLE DATA public splits_expense" in listed.stdout


def backup_program() -> str:
    """What systemd runs: `$$` is a dollar sign, `%%` a percent sign, `\\\\` a backslash."""
    unit = (UNITS / "tripcompanion-backup.service").read_text().replace("\\\n", "")
    [program] = re.findall(r"^ExecStart=/bin/bash -c '(.*)'$", unit, re.M)
    return program.replace("$$", "$").replace("%%", "%").replace("\\\\", "\\")


@pytest.mark.once
@pytest.mark.parametrize(
    ("url", "argument", "password"),
    [
        (
            "postgres://trips:s%40cret%2F1@db.example.com:5432/trips",
            "postgres://trips@db.example.com:5432/trips",
            "s@cret/1",
        ),
        ("postgres://db.example.com/trips", "postgres://db.example.com/trips", ""),
    ],
)
def test_a_backup_keeps_the_password_out_of_the_process_list(
    tmp_path: Path, url: str, argument: str, password: str
) -> None:
    fake = tmp_path / "bin" / "pg_dump"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\ntouch "$3"\nprintf "%s\\n" "$*" "$PGPASSWORD" > "$SEEN"\n')
    fake.chmod(0o755)
    (tmp_path / "state").mkdir()
    places = {
        "STATE_DIRECTORY": str(tmp_path / "state"),
        "DATABASE_URL": url,
        "SEEN": str(tmp_path / "seen"),
        "PATH": f"{fake.parent}:{os.environ['PATH']}",
    }
    subprocess.run(["/bin/bash", "-c", backup_program()], env=places, check=True)
    arguments, given = (tmp_path / "seen").read_text().splitlines()
    assert arguments.endswith(f".part {argument}")
    assert given == password
