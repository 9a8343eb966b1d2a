"""A fresh checkout of the project, and Python in it with an environment of its own."""

import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.document import ROOT

CODE = ("tripcompanion", "users", "trips", "splits", "locale")
SECRET = secrets.token_urlsafe(48)
SHOW = """
import json
from django.conf import settings
names = {names!r}
print(json.dumps({{name: getattr(settings, name) for name in names}}, default=str))
"""
LOAD = "from django.conf import settings; settings.DEBUG"


def checked_out(root: Path) -> Path:
    """A fresh checkout at `root`, without a `.env`, but with bytecode: compiling is slow."""
    for name in CODE:
        shutil.copytree(ROOT / name, root / name)
    for name in ("manage.py", "gunicorn.conf.py"):
        shutil.copy(ROOT / name, root / name)
    return root


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Python in `project`, with nothing of this process's environment but PATH."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "DJANGO_SETTINGS_MODULE": "tripcompanion.settings",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def settings_of(project: Path, *names: str, **variables: str) -> dict[str, Any]:
    """The named settings as the process has them."""
    shown = run(project, "-c", SHOW.format(names=names), **variables)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def assert_stopped(done: subprocess.CompletedProcess[str], name: str) -> None:
    """It said one line, about `name`, and nothing else."""
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("Configuration error: ")
    assert name in line
