"""Random histories of sixteen threads against the real server: `python -m tests.soak`.

MINUTES says how long (10). The server has a database of its own, of the kind of DATABASE_URL. The
soak ends with exit status 1 after the first chapter in which somebody made an entry without the
right to it, an amount is wrong, or the server failed; or if the audit finds a difference.
"""

import argparse
import os
import secrets
import subprocess
import sys
import time
from collections import Counter

from tests.server import Server, running_server
from tests.soak import log
from tests.soak.chapter import play
from tests.soak.judge import Finding

_CHAPTER_SECONDS = 45
_MOST_FINDINGS = 10


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def soak(server: Server, seconds: float, seed: str) -> list[Finding]:
    """Play chapter after chapter; what is wrong with the first that is not in order."""
    log.install(server.environment["DATABASE_URL"])
    server.manage("load_rates")
    deadline = time.monotonic() + seconds
    number = 0
    while (left := deadline - time.monotonic()) > 0:
        number += 1
        chapter = play(server, min(left, _CHAPTER_SECONDS), f"{seed}.{number}")
        say(f"Chapter {number}: {chapter}")
        if chapter.findings:
            return chapter.findings
    try:
        server.manage("audit_ledger")
    except subprocess.CalledProcessError as error:
        return [Finding("The audit found differences.", [], [error.stdout, error.stderr])]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make soak-concurrent", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES", "10")))
    parser.add_argument("--seed", default=secrets.token_hex(4), help="of an earlier run")
    options = parser.parse_args()
    say(f"Seed {options.seed}")
    with running_server(LOG_LEVEL="ERROR") as server:
        findings = soak(server, options.minutes * 60, options.seed)
    for finding in findings[:_MOST_FINDINGS]:
        say(f"\n{finding}")
    say(f"\nSeed {options.seed}: {len(findings)} findings.")
    for title, count in Counter(finding.title for finding in findings).most_common():
        say(f"{count:6} {title}")
    return int(bool(findings))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
    sys.exit(main())
