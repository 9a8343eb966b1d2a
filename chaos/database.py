"""A database that is down, restarts, falls silent or refuses connections."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg

from chaos.environment import Environment
from chaos.writers import Journal

#: Longer than both sides wait for a statement (`DATABASE_TIMEOUT` plus one second), even if
#: several statements queue for the same thread.
_SILENT_SECONDS = 14


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
        environment.require_live()
        refused = journal.answers[503]
        admin.execute("ALTER ROLE app CONNECTION LIMIT -1")
        journal.mark()
    environment.require(refused > 0, "no request returned 503")
    return journal


def _cluster(environment: Environment) -> Any:
    environment.require(environment.cluster is not None, "this environment has no PostgreSQL")
    return environment.cluster
