"""Processes that die, and a database that is down, slow, locked or out of connections."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg

from chaos.environment import Environment
from chaos.writers import Journal

#: Maximum number of attempts to cause the effect under test.
_MANY = 20
_RELOADS = 4
#: Writers; more than the service has threads.
_WAITING = 32
_PROBE_SECONDS = 0.1
#: Longer than both sides wait for a statement (`DATABASE_TIMEOUT` plus one second), even if
#: several statements queue for the same thread.
_SILENT_SECONDS = 14


def workers_are_killed(environment: Environment) -> Journal:
    """F01: workers are killed with SIGKILL repeatedly during requests."""
    with environment.load() as journal:
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


def the_database_restarts(environment: Environment) -> Journal:
    """F04: PostgreSQL restarts in fast mode under load."""
    return _database_stops(environment, "fast")


def the_database_crashes(environment: Environment) -> Journal:
    """F05: PostgreSQL stops immediately and recovers from its log."""
    return _database_stops(environment, "immediate")


def _database_stops(environment: Environment, mode: str) -> Journal:
    cluster = _cluster(environment)
    pids = set(environment.service.workers())
    with environment.load() as journal:
        for _time in range(2):
            cluster.stop(mode)
            cluster.start()
            journal.mark()
            time.sleep(1)
    environment.require(pids == set(environment.service.workers()), "a worker died")
    return journal


def the_database_is_down(environment: Environment) -> Journal:
    """F06: PostgreSQL is down for seconds; requests quickly return 503, liveness stays 200."""
    cluster = _cluster(environment)
    with (
        environment.load() as journal,
        httpx.Client(base_url=environment.service.url, timeout=20) as http,
    ):
        cluster.stop("fast")
        slowest, until = 0.0, time.monotonic() + environment.seconds
        while time.monotonic() < until:
            started = time.monotonic()
            ready = http.get("/api/health/ready")
            slowest = max(slowest, time.monotonic() - started)
            environment.require(ready.status_code == 503, f"ready answered {ready.status_code}")
            environment.require(ready.headers.get("Retry-After") == "2", "503 without Retry-After")
            environment.require(http.get("/api/health").status_code == 200, "not live")
            time.sleep(0.2)
        cluster.start()
        journal.mark()
        environment.require(slowest < 3.5, f"a 503 took {slowest:.1f} s")
        environment.note(f"slowest 503 {slowest * 1000:.0f} ms")
    return journal


def the_database_is_down_at_the_start(environment: Environment) -> Journal:
    """F07: the service starts without PostgreSQL and becomes ready when PostgreSQL does."""
    cluster = _cluster(environment)
    with environment.load() as journal:
        environment.service.stop()
        cluster.stop("fast")
        environment.service.start()
        environment.require(
            environment.service.status("/api/health/ready") == 503, "not ready should be 503"
        )
        cluster.start()
        took = environment.service.wait_for("/api/health/ready", 200)
        journal.mark()
        environment.note(f"ready {took * 1000:.0f} ms after the database")
    return journal


def the_database_falls_silent(environment: Environment) -> Journal:
    """F27: PostgreSQL freezes: it accepts connections and never responds."""
    cluster = _cluster(environment)
    with (
        environment.load() as journal,
        httpx.Client(base_url=environment.service.url, timeout=30) as http,
    ):
        processes = _stop_processes(cluster)
        try:
            slowest, until = 0.0, time.monotonic() + max(environment.seconds, _SILENT_SECONDS)
            while time.monotonic() < until:
                started = time.monotonic()
                ready = http.get("/api/health/ready")
                slowest = max(slowest, time.monotonic() - started)
                environment.require(ready.status_code == 503, f"ready answered {ready.status_code}")
                environment.require(
                    ready.headers.get("Retry-After") == "2", "503 without Retry-After"
                )
                environment.require(http.get("/api/health").status_code == 200, "not live")
        finally:
            for pid in reversed(processes):
                os.kill(pid, signal.SIGCONT)
        journal.mark()
    environment.require(slowest < _SILENT_SECONDS, f"a 503 took {slowest:.1f} s")
    environment.note(f"slowest 503 {slowest:.1f} s")
    return journal


def _stop_processes(cluster: Any) -> list[int]:
    """Stop the main process of PostgreSQL, then its children (Linux only); the process ids."""
    first = int((cluster.home / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(first, signal.SIGSTOP)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    started = [int(pid) for pid in children]
    for pid in started:
        os.kill(pid, signal.SIGSTOP)
    return [first, *started]


def connections_run_out(environment: Environment) -> Journal:
    """F08: PostgreSQL terminates the service's connections and refuses new ones."""
    superuser = _cluster(environment).url
    with environment.load() as journal, psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute("ALTER ROLE app CONNECTION LIMIT 0")
        held = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'"
        admin.execute(held)
        _health_is_quick(environment)
        refused = journal.answers[503]
        admin.execute("ALTER ROLE app CONNECTION LIMIT -1")
        journal.mark()
    environment.require(refused > 0, "no request returned 503")
    return journal


def a_table_is_locked(environment: Environment) -> Journal:
    """F09: a statement waits for a table lock; the rest of the service does not."""
    with environment.load() as journal, environment.database() as other:
        with other.transaction():
            other.execute("LOCK TABLE splits_expense IN ACCESS EXCLUSIVE MODE")
            _health_is_quick(environment)
        journal.mark()
    environment.require(journal.answers[503] > 0, "no request returned 503")
    return journal


def a_trip_is_locked(environment: Environment) -> Journal:
    """F10: another session locks the trip's row."""
    with environment.load() as journal, environment.database() as other:
        with other.transaction():
            other.execute("SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [_trip(environment)])
            _health_is_quick(environment)
        journal.mark()
    environment.require(journal.answers[503] > 0, "no request returned 503")
    return journal


def every_thread_is_busy(environment: Environment) -> Journal:
    """F30: a request waits for a lock on every thread; probes respond within 100 ms."""
    with environment.load(writers=_WAITING) as journal, environment.database() as other:
        with other.transaction():
            other.execute("SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [_trip(environment)])
            time.sleep(0.5)
            slowest, until = 0.0, time.monotonic() + max(environment.seconds, 4)
            with httpx.Client(
                base_url=environment.service.url, headers={"Connection": "close"}
            ) as http:
                while time.monotonic() < until:
                    for path in ("/api/health", "/api/health/ready"):
                        started = time.monotonic()
                        environment.require(http.get(path).status_code == 200, f"{path} is not 200")
                        slowest = max(slowest, time.monotonic() - started)
                    time.sleep(0.05)
        journal.mark()
    environment.require(slowest < _PROBE_SECONDS, f"a probe took {slowest * 1000:.0f} ms")
    environment.note(f"slowest probe {slowest * 1000:.0f} ms")
    return journal


def there_is_a_deadlock(environment: Environment) -> Journal:
    """F11: another session takes the locks of a write in the opposite order."""
    ended = 0
    with environment.load() as journal, environment.database() as other:
        for _time in range(3):
            try:
                with other.transaction():
                    members = "SELECT 1 FROM trips_member WHERE trip_id = %s FOR UPDATE"
                    other.execute(members, [_trip(environment)])
                    time.sleep(0.2)
                    trip = "SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE"
                    other.execute(trip, [_trip(environment)])
            except psycopg.errors.DeadlockDetected:
                ended += 1
            journal.mark()
    environment.note(f"PostgreSQL ended the other side {ended} of 3 times")
    return journal


def a_worker_freezes(environment: Environment) -> Journal:
    """F12: a worker freezes inside its transactions; PostgreSQL ends them after 10 s."""
    with environment.load(timeout_seconds=3) as journal:
        pid = environment.service.signal_worker(signal.SIGSTOP)
        time.sleep(12)
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
        journal.mark()
    return journal


def clients_give_up_early(environment: Environment) -> Journal:
    """F20: responses arrive after the client's timeout, and it repeats every request."""
    with environment.load(timeout_seconds=0.06, writers=6) as journal:
        for turn in range(_MANY):
            if turn >= environment.seconds and journal.answers["slow"]:
                break
            time.sleep(1)
    repeats = sum(intent.tries - 1 for intent in journal.intents)
    environment.require(journal.answers["slow"] > 0, "no client gave up, so nothing was tested")
    environment.note(f"{repeats} repeats of {len(journal.intents)} intents")
    return journal


def three_migrate_at_once(environment: Environment) -> Journal:
    """F22: three processes migrate at once while the service writes."""
    outcomes: list[Any] = []
    with environment.load() as journal:
        threads = [
            threading.Thread(
                target=lambda: outcomes.append(environment.service.manage("migrate_safely"))
            )
            for _one in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.mark()
    environment.require(all(done.returncode == 0 for done in outcomes), "a migration failed")
    return journal


def _health_is_quick(environment: Environment) -> None:
    """Check for some seconds that `/api/health` answers, and note the slowest response."""
    # Longer than any lock timeout.
    until, slowest = time.monotonic() + max(environment.seconds, 4), 0.0
    while time.monotonic() < until:
        started = time.monotonic()
        environment.require(environment.service.status("/api/health") == 200, "not live")
        slowest = max(slowest, time.monotonic() - started)
        time.sleep(0.2)
    environment.note(f"slowest health {slowest * 1000:.0f} ms")


def _cluster(environment: Environment) -> Any:
    environment.require(environment.cluster is not None, "this environment has no PostgreSQL")
    return environment.cluster


def _trip(environment: Environment) -> int:
    return environment.scene.trip_id
