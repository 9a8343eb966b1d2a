"""Takes plugins out of a copy of the tree: `make plugins-out`, or with the names of some.

For each, and for all at once: its folder, those of plugins that require it, and their lines in the
settings are deleted. Then the checks, the migrations and the document of what remains are run.
Nothing of the core and of its tests may name what is gone. Without any plugin, the tests of the
core are run as `make test-core` runs them; without one of them, the tests that walk the URL map,
for the core and the plugins that remain. With `--tests`, all tests that remain are run each time.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from importlib import import_module
from pathlib import Path

from tests.sources import CORE, ROOT, shipped
from tripcompanion.plugin import Plugin

_COMMANDS = (
    ("check",),
    ("makemigrations", "--check", "--dry-run"),
    # The tests read it.
    ("spectacular", "--validate", "--fail-on-warn", "--file", "openapi.yaml"),
    ("migrate_safely", "--verbosity", "0"),
)
#: What walks the URL map, the models and the document of all apps.
WALKING = [
    "tests/test_every_plugin.py",
    "tests/test_documented_responses.py",
    "tests/test_query_counts.py",
    "tests/test_openapi.py",
    "tests/test_plugins.py",
    "tests/security/test_stored.py",
    "tests/users/test_prune.py",
]


def requirements() -> dict[str, set[str]]:
    """The plugins in the folder `plugins/`, each with what it requires."""
    found = {}
    for file in sorted((ROOT / "plugins").glob("*/apps.py")):
        module = import_module(f"plugins.{file.parent.name}.apps")
        # Not `isinstance`, which would load the settings that a module imports.
        kinds = (kind for kind in vars(module).values() if issubclass(type(kind), type))
        [app] = (kind for kind in kinds if issubclass(kind, Plugin) and kind is not Plugin)
        found[app.name] = set(app.requires)
    return found


def with_dependents(name: str, required: dict[str, set[str]]) -> set[str]:
    """A plugin, and all that cannot be there without it."""
    gone = {name}
    while more := {other for other, needs in required.items() if needs & gone} - gone:
        gone |= more
    return gone


def copy_without(gone: Collection[str], root: Path) -> None:
    """Copy the tracked files to `root`, and take these plugins out."""
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    folders = tuple(f"{name.replace('.', '/')}/" for name in gone)
    for file in filter(None, files.split("\0")):
        if not file.startswith(folders) and (ROOT / file).is_file():
            target = root / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, target)
    file = root / "tripcompanion" / "settings.py"
    lines = file.read_text().splitlines(keepends=True)
    kept = (line for line in lines if not any(f'"{name}",' in line for name in gone))
    file.write_text("".join(kept))


def faults(gone: Collection[str], root: Path, chosen: list[str]) -> Iterator[str]:
    """What is wrong with the copy at `root`, a line for each; `chosen` are arguments of pytest."""
    named = re.compile("|".join(rf"\b{name.replace('.', '[./]')}\b" for name in gone))
    tests = (ROOT / "tests").rglob("*.py")
    for path in (*shipped(*CORE), *tests):
        here = root / path.relative_to(ROOT)
        yield from (
            f"{path.relative_to(ROOT)} names {found}" for found in named.findall(here.read_text())
        )
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PLUGINS"},
        "DEBUG": "true",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "DATABASE_URL": f"sqlite:///{root / 'db.sqlite3'}",
    }
    commands = [[sys.executable, "manage.py", *command] for command in _COMMANDS]
    commands.append([sys.executable, "-m", "pytest", "-q", "-n2", *chosen])
    # What stays, said again, so that the tests expect what it has and not what all plugins have.
    settings = (root / "tripcompanion" / "settings.py").read_text()
    stays = ",".join(re.findall(r'^ +"(plugins\.\w+)",$', settings, re.M))
    for command in commands:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment | ({"PLUGINS": stays} if "pytest" in command else {}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            last = (done.stdout + done.stderr).strip().splitlines()[-3:]
            yield f"{' '.join(command[1:])} failed: {' / '.join(last)}"


def main(arguments: list[str]) -> int:
    """Take out each plugin that is named, or each and then all; 1 if something is wrong."""
    with_tests = "--tests" in arguments
    required = requirements()
    chosen = [f"plugins.{name}" for name in arguments if not name.startswith("--")]
    sets = [with_dependents(name, required) for name in chosen or required]
    if not chosen:
        sets.append(set(required))
    status = 0
    for gone in sets:
        title = "all" if gone == set(required) else ", ".join(sorted(gone))
        with tempfile.TemporaryDirectory() as folder:
            copy_without(gone, Path(folder))
            suite = WALKING if gone != set(required) else ["tests", "--in-process"]
            suite = ["-m", "not slow"] if with_tests else suite
            found = list(faults(gone, Path(folder), suite))
        sys.stdout.write(f"without {title}: {len(found) or 'no'} faults\n")
        sys.stdout.writelines(f"    {line}\n" for line in found)
        sys.stdout.flush()
        status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
