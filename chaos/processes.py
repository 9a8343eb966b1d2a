"""Processes of the service that die, freeze or restart."""

import signal
import subprocess
import time
from typing import Any

from chaos.environment import Environment
from chaos.writers import Journal, ProgramWriter

#: Maximum number of attempts to cause the effect under test.
_MANY = 20
_RELOADS = 4


def workers_are_killed(environment: Environment) -> Journal:
    """F01: workers are killed with SIGKILL repeatedly during requests."""
    return _killing_workers(environment)


def programs_lose_answers(environment: Environment) -> Journal:
    """F40: workers are killed; programs for Splitwise's API and assistants repeat their calls."""
    return _killing_workers(environment, kind=ProgramWriter)


def _killing_workers(environment: Environment, **options: Any) -> Journal:
    with environment.load(**options) as journal:
        for turn in range(_MANY):
            if turn >= max(2, environment.seconds) and journal.answers["cut"]:
                break
            environment.service.signal_worker(signal.SIGKILL)
            journal.mark()
            time.sleep(1)
    environment.require(journal.answers["cut"] > 0, "no request was cut, so nothing was tested")
    return journal


def the_master_is_killed(environment: Environment) -> Journal:
    """F02: all processes are killed at once and restarted by a supervisor."""
    with environment.load() as journal:
        environment.service.kill()
        started = time.monotonic()
        environment.service.start()
        environment.service.wait_for("/api/health/ready", 200)
        environment.note(f"ready {time.monotonic() - started:.1f} s after the start")
        journal.mark()
    return journal


def it_is_deployed_anew(environment: Environment) -> Journal:
    """F03: SIGTERM under load; requests in progress are answered."""
    with environment.load() as journal:
        before = journal.answers["slow"]
        environment.service.stop()
        environment.service.start()
        journal.mark()
    environment.require(journal.answers["slow"] == before, "requests hung while it stopped")
    return journal


def it_is_reloaded(environment: Environment) -> Journal:
    """F33: four SIGHUPs under load with keep-alive connections; none is reset."""
    with environment.load() as journal:
        for _time in range(_RELOADS):
            environment.service.process.send_signal(signal.SIGHUP)
            time.sleep(max(1, environment.seconds / _RELOADS))
            journal.mark()
    cut = journal.answers["cut"]
    environment.require(not cut, f"{cut} requests were cut")
    return journal


def a_worker_freezes(environment: Environment) -> Journal:
    """F12: a worker freezes inside its transactions; PostgreSQL ends them after 10 s."""
    with environment.load(timeout_seconds=3) as journal:
        pid = environment.service.signal_worker(signal.SIGSTOP)
        time.sleep(12)
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
        journal.mark()
    return journal
