"""A mutant: a guard removed by replacing some code, or by dropping a constraint."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def copy_checkout(target: Path) -> None:
    """Copy all files that git tracks or does not ignore."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


@dataclass(frozen=True)
class Mutant:
    """Replaces `old`, which occurs exactly once in `file`; with an empty `old`, adds the file.

    `tests` are the closest ones, as arguments of pytest. `on_postgres` means that only PostgreSQL
    can detect it: SQLite has one writer at a time, whatever is locked.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    on_postgres: bool = False

    def applies(self, root: Path = ROOT) -> bool:
        path = root / self.file
        if not self.old:
            return not path.exists()
        return path.read_text().count(self.old) == 1 and self.old != self.new

    @contextmanager
    def applied(self, root: Path) -> Iterator[None]:
        """Remove the guard in the checkout at `root`, and restore it at the end."""
        path = root / self.file
        before = path.read_text() if self.old else ""
        path.write_text(before.replace(self.old, self.new) if self.old else self.new)
        try:
            yield
        finally:
            if self.old:
                path.write_text(before)
            else:
                path.unlink()


#: Guards of one file: `(name, old, new, tests)`, the tests prefixed with "PG " for `on_postgres`.
Guards = dict[str, list[tuple[str, str, str, str]]]


def mutants_of(guards: Guards) -> Iterator[Mutant]:
    for file, rows in guards.items():
        for name, old, new, tests in rows:
            on_postgres = tests.startswith("PG ")
            yield Mutant(name, file, old, new, tests.removeprefix("PG "), on_postgres)
