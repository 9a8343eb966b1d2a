"""Processes that die, and a database that is away, slow, locked or full of connections."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg

from chaos.stage import Stage
from chaos.writers import Journal

#: So often something is tried until it has the effect that is to be looked at.
_MANY = 20
_RELOADS = 4
#: More than the service has threads.
_WAITING = 32
_PROBE_SECONDS = 0.1
#: Longer than a statement is waited for on both sides (`DATABASE_TIMEOUT` and a second), and than
#: some that queue for the same thread.
_SILENT_SECONDS = 14


def workers_are_killed(stage: Stage) -> Journal:
    """F01: kill -9 of a worker, again and again, in the middle of requests."""
    with stage.load() as journal:
        for turn in range(_MANY):
            if turn >= max(2, stage.seconds) and journal.answers["cut"]:
                break
            stage.service.signal_worker(signal.SIGKILL)
            journal.mark()
            time.sleep(1)
    stage.require(journal.answers["cut"] > 0, "no request was cut: nothing was shown")
    return journal


def the_master_is_killed(stage: Stage) -> Journal:
    """F02: all processes die at once; a supervisor starts them again."""
    with stage.load() as journal:
        stage.service.kill()
        started = time.monotonic()
        stage.service.start()
        stage.service.wait_for("/api/health/ready", 200)
        stage.note(f"ready {time.monotonic() - started:.1f} s after the start")
        journal.mark()
    return journal


def it_is_deployed_anew(stage: Stage) -> Journal:
    """F03: SIGTERM under load; requests under way are answered."""
    with stage.load() as journal:
        before = journal.answers["slow"]
        stage.service.stop()
        stage.service.start()
        journal.mark()
    stage.require(journal.answers["slow"] == before, "requests hung while it stopped")
    return journal


def it_is_reloaded(stage: Stage) -> Journal:
    """F33: four SIGHUPs under load over kept connections; none is reset."""
    with stage.load() as journal:
        for _time in range(_RELOADS):
            stage.service.process.send_signal(signal.SIGHUP)
            time.sleep(max(1, stage.seconds / _RELOADS))
            journal.mark()
    cut = journal.answers["cut"]
    stage.require(not cut, f"{cut} requests were cut")
    return journal


def the_database_restarts(stage: Stage) -> Journal:
    """F04: a fast restart of PostgreSQL under load."""
    return _database_stops(stage, "fast")


def the_database_crashes(stage: Stage) -> Journal:
    """F05: an immediate stop, and recovery from the log."""
    return _database_stops(stage, "immediate")


def _database_stops(stage: Stage, mode: str) -> Journal:
    cluster = _cluster(stage)
    pids = set(stage.service.workers())
    with stage.load() as journal:
        for _time in range(2):
            cluster.stop(mode)
            cluster.start()
            journal.mark()
            time.sleep(1)
    stage.require(pids == set(stage.service.workers()), "a worker died of it")
    return journal


def the_database_is_down(stage: Stage) -> Journal:
    """F06: PostgreSQL is away for seconds: honest, quick refusals, and live all the same."""
    cluster = _cluster(stage)
    with stage.load() as journal, httpx.Client(base_url=stage.service.url, timeout=20) as http:
        cluster.stop("fast")
        slowest, until = 0.0, time.monotonic() + stage.seconds
        while time.monotonic() < until:
            started = time.monotonic()
            ready = http.get("/api/health/ready")
            slowest = max(slowest, time.monotonic() - started)
            stage.require(ready.status_code == 503, f"ready answered {ready.status_code}")
            stage.require(ready.headers.get("Retry-After") == "2", "503 without Retry-After")
            stage.require(http.get("/api/health").status_code == 200, "not live")
            time.sleep(0.2)
        cluster.start()
        journal.mark()
        stage.require(slowest < 3.5, f"a 503 took {slowest:.1f} s")
        stage.note(f"slowest 503 {slowest * 1000:.0f} ms")
    return journal


def the_database_is_down_at_the_start(stage: Stage) -> Journal:
    """F07: the service starts without PostgreSQL, says so, and is ready when it comes."""
    cluster = _cluster(stage)
    with stage.load() as journal:
        stage.service.stop()
        cluster.stop("fast")
        stage.service.start()
        stage.require(stage.service.status("/api/health/ready") == 503, "not ready should be 503")
        cluster.start()
        took = stage.service.wait_for("/api/health/ready", 200)
        journal.mark()
        stage.note(f"ready {took * 1000:.0f} ms after the database")
    return journal


def the_database_falls_silent(stage: Stage) -> Journal:
    """F27: all of PostgreSQL stands still: it accepts, keeps its connections, and never answers."""
    cluster = _cluster(stage)
    with stage.load() as journal, httpx.Client(base_url=stage.service.url, timeout=30) as http:
        processes = _stop_processes(cluster)
        try:
            slowest, until = 0.0, time.monotonic() + max(stage.seconds, _SILENT_SECONDS)
            while time.monotonic() < until:
                started = time.monotonic()
                ready = http.get("/api/health/ready")
                slowest = max(slowest, time.monotonic() - started)
                stage.require(ready.status_code == 503, f"ready answered {ready.status_code}")
                stage.require(ready.headers.get("Retry-After") == "2", "503 without Retry-After")
                stage.require(http.get("/api/health").status_code == 200, "not live")
        finally:
            for pid in reversed(processes):
                os.kill(pid, signal.SIGCONT)
        journal.mark()
    stage.require(slowest < _SILENT_SECONDS, f"a 503 took {slowest:.1f} s")
    stage.note(f"slowest 503 {slowest:.1f} s")
    return journal


def _stop_processes(cluster: Any) -> list[int]:
    """Stop PostgreSQL's first process, and then those that it has started (Linux tells them)."""
    first = int((cluster.home / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(first, signal.SIGSTOP)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    started = [int(pid) for pid in children]
    for pid in started:
        os.kill(pid, signal.SIGSTOP)
    return [first, *started]


def connections_run_out(stage: Stage) -> Journal:
    """F08: the server has no connection left for the service, and takes away those that it has."""
    superuser = _cluster(stage).url
    with stage.load() as journal, psycopg.connect(superuser, autocommit=True) as admin:
        admin.execute("ALTER ROLE app CONNECTION LIMIT 0")
        held = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'"
        admin.execute(held)
        _health_is_quick(stage)
        refused = journal.answers[503]
        admin.execute("ALTER ROLE app CONNECTION LIMIT -1")
        journal.mark()
    stage.require(refused > 0, "nobody was told to come back later")
    return journal


def a_table_is_locked(stage: Stage) -> Journal:
    """F09: a statement hangs on a lock of the whole table; the rest of the service does not."""
    with stage.load() as journal, stage.database() as other:
        with other.transaction():
            other.execute("LOCK TABLE splits_expense IN ACCESS EXCLUSIVE MODE")
            _health_is_quick(stage)
        journal.mark()
    stage.require(journal.answers[503] > 0, "nobody was told to come back later")
    return journal


def a_trip_is_locked(stage: Stage) -> Journal:
    """F10: somebody holds the trip's row."""
    with stage.load() as journal, stage.database() as other:
        with other.transaction():
            other.execute("SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [_trip(stage)])
            _health_is_quick(stage)
        journal.mark()
    stage.require(journal.answers[503] > 0, "nobody was told to come back later")
    return journal


def every_thread_is_busy(stage: Stage) -> Journal:
    """F30: on every thread a request waits for a lock; probes are answered within 100 ms."""
    with stage.load(writers=_WAITING) as journal, stage.database() as other:
        with other.transaction():
            other.execute("SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [_trip(stage)])
            time.sleep(0.5)
            slowest, until = 0.0, time.monotonic() + max(stage.seconds, 4)
            with httpx.Client(base_url=stage.service.url, headers={"Connection": "close"}) as http:
                while time.monotonic() < until:
                    for path in ("/api/health", "/api/health/ready"):
                        started = time.monotonic()
                        stage.require(http.get(path).status_code == 200, f"{path} is not 200")
                        slowest = max(slowest, time.monotonic() - started)
                    time.sleep(0.05)
        journal.mark()
    stage.require(slowest < _PROBE_SECONDS, f"a probe took {slowest * 1000:.0f} ms")
    stage.note(f"slowest probe {slowest * 1000:.0f} ms")
    return journal


def there_is_a_deadlock(stage: Stage) -> Journal:
    """F11: somebody takes the locks of a write in the opposite order."""
    ended = 0
    with stage.load() as journal, stage.database() as other:
        for _time in range(3):
            try:
                with other.transaction():
                    members = "SELECT 1 FROM trips_member WHERE trip_id = %s FOR UPDATE"
                    other.execute(members, [_trip(stage)])
                    time.sleep(0.2)
                    trip = "SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE"
                    other.execute(trip, [_trip(stage)])
            except psycopg.errors.DeadlockDetected:
                ended += 1
            journal.mark()
    stage.note(f"PostgreSQL ended the other side {ended} of 3 times")
    return journal


def a_worker_freezes(stage: Stage) -> Journal:
    """F12: a worker stops inside its transactions; PostgreSQL ends those after 10 s."""
    with stage.load(timeout_seconds=3) as journal:
        pid = stage.service.signal_worker(signal.SIGSTOP)
        time.sleep(12)
        subprocess.run(["kill", "-CONT", str(pid)], check=True)
        journal.mark()
    return journal


def clients_give_up_early(stage: Stage) -> Journal:
    """F20: answers come too late for the client, which sends everything again."""
    with stage.load(timeout_seconds=0.06, writers=6) as journal:
        for turn in range(_MANY):
            if turn >= stage.seconds and journal.answers["slow"]:
                break
            time.sleep(1)
    repeats = sum(intent.tries - 1 for intent in journal.intents)
    stage.require(journal.answers["slow"] > 0, "no client gave up: nothing was shown")
    stage.note(f"{repeats} repeats of {len(journal.intents)} intents")
    return journal


def three_migrate_at_once(stage: Stage) -> Journal:
    """F22: three processes migrate while the service writes."""
    outcomes: list[Any] = []
    with stage.load() as journal:
        threads = [
            threading.Thread(target=lambda: outcomes.append(stage.service.manage("migrate")))
            for _one in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.mark()
    stage.require(all(done.returncode == 0 for done in outcomes), "a migration failed")
    return journal


def _health_is_quick(stage: Stage) -> None:
    """For some seconds the probes answer, whoever else waits for a lock."""
    # Longer than anybody waits for a lock.
    until, slowest = time.monotonic() + max(stage.seconds, 4), 0.0
    while time.monotonic() < until:
        started = time.monotonic()
        stage.require(stage.service.status("/api/health") == 200, "not live")
        slowest = max(slowest, time.monotonic() - started)
        time.sleep(0.2)
    stage.note(f"slowest health {slowest * 1000:.0f} ms")


def _cluster(stage: Stage) -> Any:
    stage.require(stage.cluster is not None, "there is no PostgreSQL on this stage")
    return stage.cluster


def _trip(stage: Stage) -> int:
    return stage.scene.trip_id
