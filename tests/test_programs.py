"""What needs a program is skipped without it, and required by `make check`."""

import os
import re
import subprocess
import sys

import pytest

from tests.document import ROOT
from tests.programs import NEEDS, PACKAGES

pytestmark = pytest.mark.once


@pytest.mark.parametrize(("require_all", "outcome"), [("", "SKIPPED [1]"), ("1", "ERROR")])
def test_a_program_that_is_missing_skips_the_test_or_fails_it(tmp_path, require_all, outcome):
    named = "tests/test_systemd.py::test_systemd_accepts_the_units"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-rsE", named],
        cwd=ROOT,
        env=os.environ | {"PATH": str(tmp_path), "REQUIRE_ALL": require_all, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == int(outcome == "ERROR"), done.stdout
    [line] = [line for line in done.stdout.splitlines() if line.startswith(outcome)]
    assert "systemd-analyze is not installed; Debian's package systemd has it" in line


def test_nothing_else_decides_what_is_installed():
    folders = ("tests", "plugins", "chaos", "clients", "benchmarks")
    files = {path for folder in folders for path in (ROOT / folder).rglob("*.py")}
    looking = {path for path in files if re.search(r"shutil\.which\(", path.read_text())}
    # The latter looks for the programs of PostgreSQL, which a wheel has, too.
    assert {path.name for path in looking} == {"programs.py", "postgres.py"}
    named = {
        name
        for path in files
        for marked in re.findall(r"\bmark\.needs\(([^)]*)", path.read_text())
        for name in re.findall(r'"([^"]+)"', marked)
    }
    assert named <= PACKAGES.keys()
    shared = [
        name
        for path in files
        for name in re.findall(r"^(\w+) = pytest\.mark\.needs\(", path.read_text(), re.M)
        if not path.name.startswith("test_")
    ]
    assert all(map(NEEDS.search, shared))
