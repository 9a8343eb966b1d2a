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
from tests.server import free_port

CODE = ("tripcompanion", "users", "trips", "splits", "plugins", "locale")
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
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("tests"))
    for name in ("manage.py", "gunicorn.conf.py"):
        shutil.copy(ROOT / name, root / name)
    return root


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Python in `project`, with nothing of this process's environment but PATH."""
    given = {"PYTHONUTF8": "1", "DJANGO_SETTINGS_MODULE": "tripcompanion.settings"}
    return _started(project, [sys.executable, *arguments], given | variables)


def with_event(project: Path, event: str) -> str:
    """Write a plugin that declares an event, and return its name."""
    app = project / "plugins" / "weather"
    app.mkdir()
    (app / "__init__.py").touch()
    (app / "apps.py").write_text(
        "from tripcompanion.plugin import Plugin\n\n\n"
        "class WeatherConfig(Plugin):\n    name = 'plugins.weather'\n\n"
        f"    events = {{{event!r}: '%(by)s saw a storm.'}}\n"
    )
    return "plugins.weather"


#: In place of gunicorn, which would serve.
SERVER = "import os\n\nprint(f'serving with DEBUG={os.environ[\"DEBUG\"]}')\n"


def newcomers_checkout(root: Path) -> Path:
    """A fresh checkout with bytecode at `root`; its `.venv` has the packages of this process."""
    checked_out(root)
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(ROOT / name, root / name)
    tools = root / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tools / "python").chmod(0o755)
    (root / "gunicorn.py").write_text(SERVER)
    (root / ".venv" / ".runtime").touch()
    return root


def make(checkout: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """`make` in `checkout`, with nothing of this process's environment but PATH."""
    given = {"PORT": str(free_port())} | variables
    return _started(checkout, ["make", "--no-print-directory", *arguments], given)


def shell(
    checkout: Path, script: str, *, succeeds: bool = True, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A script in `checkout`, with nothing of this process's environment but PATH."""
    done = _started(checkout, ["sh", "-eu", "-c", script], variables)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    return done


def _started(
    checkout: Path, command: list[str], variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout.parent / "home")}
    return subprocess.run(
        command,
        cwd=checkout,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"} | variables,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


#: Imports the settings for each environment of the argument in a fork, which has all libraries.
EACH = """
import json, os, sys
import tripcompanion.settings
for name in [name for name in sys.modules if name.startswith(("tripcompanion", "plugins"))]:
    del sys.modules[name]
for name, variables in json.loads(sys.argv[1]).items():
    child = os.fork()
    if child == 0:
        for stream, number in (("out", 1), ("err", 2)):
            os.dup2(os.open(f"{name}.{stream}", os.O_WRONLY | os.O_CREAT), number)
        os.environ.update(variables)
        code = 0
        try:
            import tripcompanion.settings
        except SystemExit as stopped:
            # As Python does it.
            print(stopped.code, file=sys.stderr)
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def start_each(
    project: Path, folder: Path, environments: list[dict[str, str]]
) -> list[subprocess.CompletedProcess[str]]:
    """Load the settings in `project` with each of these environments; `folder` is for output."""
    numbered = {str(folder / str(place)): each for place, each in enumerate(environments)}
    done = run(project, "-c", EACH, json.dumps(numbered), SECRET_KEY=SECRET)
    assert done.returncode == 0, done.stderr
    return [
        subprocess.CompletedProcess(
            [name], int(code), Path(f"{name}.out").read_text(), Path(f"{name}.err").read_text()
        )
        for name, code in zip(numbered, done.stdout.split(), strict=True)
    ]


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
