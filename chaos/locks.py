"""Locks that another session holds, and a deadlock."""

import time

import httpx
import psycopg

from chaos.environment import Environment
from chaos.writers import Journal

#: Writers; more than the service has threads.
_WAITING = 32
_PROBE_SECONDS = 0.1


def a_table_is_locked(environment: Environment) -> Journal:
    """F09: a statement waits for a table lock; the rest of the service does not."""
    with environment.load() as journal, environment.database() as other:
        with other.transaction():
            other.execute("LOCK TABLE splits_expense IN ACCESS EXCLUSIVE MODE")
            environment.require_live()
        journal.mark()
    environment.require(journal.answers[503] > 0, "no request returned 503")
    return journal


def a_trip_is_locked(environment: Environment) -> Journal:
    """F10: another session locks the trip's row."""
    with environment.load() as journal, environment.database() as other:
        with other.transaction():
            other.execute(
                "SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [environment.scene.trip_id]
            )
            environment.require_live()
        journal.mark()
    environment.require(journal.answers[503] > 0, "no request returned 503")
    return journal


def every_thread_is_busy(environment: Environment) -> Journal:
    """F30: a request waits for a lock on every thread; probes respond within 100 ms."""
    with environment.load(writers=_WAITING) as journal, environment.database() as other:
        with other.transaction():
            other.execute(
                "SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE", [environment.scene.trip_id]
            )
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
                    other.execute(members, [environment.scene.trip_id])
                    time.sleep(0.2)
                    trip = "SELECT 1 FROM trips_trip WHERE id = %s FOR UPDATE"
                    other.execute(trip, [environment.scene.trip_id])
            except psycopg.errors.DeadlockDetected:
                ended += 1
            journal.mark()
    environment.note(f"PostgreSQL ended the other side {ended} of 3 times")
    return journal
