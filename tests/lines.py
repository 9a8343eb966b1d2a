"""Counts lines: `make lines`. Python, templates and texts, with migrations, as git has them."""

import subprocess
import sys
from collections import Counter

from tests.sources import CORE, ROOT

_COUNTED = (".py", ".html", ".txt")
_TOOLS = ("benchmarks", "chaos", "clients")


def room_of(file: str) -> str | None:
    """Where the lines of a file count: the core, a plugin, the tests or the tools."""
    first, *others = file.split("/")
    if first == "tests" or "tests" in others or file == "conftest.py":
        return "tests"
    if first in CORE or file in {"manage.py", "gunicorn.conf.py"}:
        return "core"
    if first == "plugins":
        return f"plugins/{others[0]}"
    return "tools" if first in _TOOLS else None


def lines() -> Counter[str]:
    """The number of lines by room."""
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    found: Counter[str] = Counter()
    for file in files:
        room = room_of(file) if file.endswith(_COUNTED) else None
        if room and (ROOT / file).is_file():
            found[room] += (ROOT / file).read_text(encoding="utf-8").count("\n")
    return found


def main() -> None:
    """Print the rooms, and what is shipped in all."""
    found = lines()
    shipped = sum(n for room, n in found.items() if room not in {"tests", "tools"})
    for room, number in sorted(found.items()):
        sys.stdout.write(f"{number:7} {room}\n")
    sys.stdout.write(f"{shipped:7} shipped: core and plugins\n")


if __name__ == "__main__":
    main()
