"""Mutates the modules that only compute, with mutmut: `python -m tests.mutations.pure`.

It changes every operator, number and name of them in turn, in a temporary copy of the checkout, and
runs the tests that call the changed function. Arguments are names of mutants, such as
`splits.money*`. The exit status is 1 if no test notices a change that `EQUIVALENT` does not have.
"""

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

from tests.mutations.mutant import ROOT, copy_checkout
from tests.sources import CORE

MODULES = [
    *("splits/money.py", "splits/settling.py", "splits/offsets.py", "splits/models/items.py"),
    "tripcompanion/currency/amounts.py",
]
TESTS = ["tests/test_amounts.py"] + [
    f"tests/splits/test_{name}.py"
    for name in ("money", "settling", "offsets", "dividing", "divisions", "items")
]
#: Lines with a text for people, and declarations.
_LEFT_ALONE = [r"_\(\"", r"\.join\(", "TextChoices"]
#: Changes after which the code does the same, by their new lines.
EQUIVALENT = frozenset(
    {
        "before = max([most[subset ^ bit] for bit, _ in people if subset | bit])",
        "by_size = sorted(balances.items(), key=lambda item: +abs(item[1]))",
        "for subset in range(2, len(sums)):",
        "most = [1] * len(sums)",
        "receivers = deque((user_id, balance) for user_id, balance in by_size if balance >= 0)",
        "return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, ))",
        "return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=None))",
        "return int(scaled.quantize(Decimal(2), rounding=ROUND_HALF_UP, context=_WIDE))",
        "return json.loads(stored, parse_float=Decimal, )",
        "return json.loads(stored, parse_float=Decimal, parse_int=None)",
        "senders = deque((user_id, -balance) for user_id, balance in by_size if balance < 1)",
        "senders = deque((user_id, -balance) for user_id, balance in by_size if balance <= 0)",
        "sums += [subset_sum - balance for subset_sum in sums]",
    }
)
_MUTMUT = [sys.executable, "-m", "mutmut"]


def survivors(copy: Path) -> Iterator[tuple[str, str]]:
    """The names of changes that no test noticed, each with its lines of a diff."""
    environment = os.environ | {
        "DATABASE_URL": "sqlite://:memory:",
        "DEBUG": "true",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "PYTHONPATH": str(ROOT / ".venv" / "mutants"),
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*_MUTMUT, *arguments], cwd=copy, env=environment, check=False, capture_output=True
        )
        printed = done.stdout.decode(errors="replace")
        if done.returncode:
            raise SystemExit(printed[-5000:] + done.stderr.decode(errors="replace"))
        return printed

    run("run", "--max-children", str(os.cpu_count() or 1), *sys.argv[1:])
    for line in run("results").splitlines():
        name, _colon, outcome = line.strip().partition(": ")
        if outcome in {"survived", "no tests", "suspicious"}:
            diff = run("show", name).splitlines()
            yield name, "\n".join(row for row in diff if row[:1] in "+-" and row[1:2] not in "+-")


def main() -> int:
    """Print what survived."""
    settings = {
        "source_paths": [*CORE, "plugins"],
        "only_mutate": MODULES,
        "also_copy": sorted(path.name for path in ROOT.iterdir() if path.name[0] != "."),
        "do_not_mutate_patterns": _LEFT_ALONE,
        "pytest_add_cli_args": ["-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": TESTS,
    }
    found = 0
    with tempfile.TemporaryDirectory(prefix="tripcompanion-") as folder:
        copy = Path(folder)
        copy_checkout(copy)
        config = ConfigParser(interpolation=None)
        config["mutmut"] = {name: "\n" + "\n".join(rows) for name, rows in settings.items()}
        with (copy / "setup.cfg").open("w") as file:
            config.write(file)
        for name, diff in survivors(copy):
            if not EQUIVALENT & {line[1:].strip() for line in diff.splitlines()}:
                found += 1
                sys.stdout.write(f"SURVIVED: {name}\n{diff}\n")
    sys.stdout.write(f"{found} changes survived.\n")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
