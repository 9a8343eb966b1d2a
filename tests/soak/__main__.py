"""Random histories of sixteen threads against the real server: `python -m tests.soak`.

MINUTES says how long (10): half of it on SQLite, half on PostgreSQL, which is found as the tests
find it; all of it on SQLite if there is none. The server has a database of its own on each.

Exit status 1 after the first chapter with a finding: a change by somebody who had no right to it at
that moment, a wrong amount, an answer that is not true, a 5xx other than 503, or a difference that
the audit finds. The same seed makes the same moves, but threads never meet twice alike.
"""

import argparse
import os
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django
from django.test import override_settings

from tests.postgres import WAYS, Unavailable
from tests.server import running_server
from tests.soak.chapter import play_chapters

_SHOWN_OF_A_KIND = 3


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(findings: list[str]) -> None:
    """Say what was found: a few of each kind, and how many there are."""
    said: Counter[str] = Counter()
    for finding in findings:
        title = finding.partition("\n")[0]
        said[title] += 1
        if said[title] <= _SHOWN_OF_A_KIND:
            say(f"\n{finding}")
    for title, count in said.most_common():
        say(f"{count:6} {title}")


def soak(database_url: str, minutes: float, seed: str) -> list[str]:
    """Play on one database; what was found."""
    findings = []
    with override_settings(DATABASE_URL=database_url), running_server(LOG_LEVEL="ERROR") as server:
        for chapter in play_chapters(server, minutes * 60, seed):
            say(str(chapter))
            findings += chapter.findings
    return findings


@contextmanager
def databases(folder: Path) -> Iterator[dict[str, str]]:
    """The URLs of SQLite and, if there is one, of PostgreSQL; the server makes its own there."""
    urls = {"SQLite": "sqlite:///:memory:"}
    reasons = []
    with ExitStack() as stack:
        for name, way in WAYS.items():
            (folder / name).mkdir()
            try:
                urls["PostgreSQL"] = stack.enter_context(way(folder / name))
                break
            except Unavailable as reason:
                reasons.append(f"{name}: {reason}")
        else:
            say(f"PostgreSQL: not played; {'; '.join(reasons)}")
        yield urls


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make soak-concurrent", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES", "10")))
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the one that a run printed")
    options = parser.parse_args()
    count = 0
    temporary = tempfile.TemporaryDirectory(prefix="tripcompanion-soak-")
    with temporary as folder, databases(Path(folder)) as urls:
        for name, url in urls.items():
            say(f"{name}, seed {options.seed}")
            findings = soak(url, options.minutes / len(urls), options.seed)
            report(findings)
            count += len(findings)
    say(f"Seed {options.seed}: {count} findings.")
    return int(bool(count))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    django.setup()
    sys.exit(main())
