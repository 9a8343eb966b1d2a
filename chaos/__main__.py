"""`make chaos`: runs the faults one after the other and prints their effect on the data.

The exit status is 1 if an acknowledged write is lost or stored twice, if the audit finds a
difference, or if the service behaves differently from the fault's docstring.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psycopg

from chaos import (
    database,
    files,
    followers,
    loads,
    locks,
    migrating,
    people,
    processes,
    providers,
    recurring,
)
from chaos.environment import Environment, Failed, Play, Row
from chaos.outcome import concluded, say
from chaos.service import running
from chaos.writers import Scene
from tests.postgres import Cluster, Unavailable, installed_programs, wheel_programs

#: Durable, as in production, because crashes are part of the test.
_SETTINGS = "max_connections = 40\nfsync = on\n"
_DISK_MIB = 160
_SQLITE_DISK_MIB = 8


class Fault(NamedTuple):
    """A row of the table: what runs, in which environment, and whether `--short` includes it."""

    number: str
    play: Play
    environment: str = "postgresql"
    is_short: bool = False


FAULTS = [
    Fault("F01", processes.workers_are_killed, is_short=True),
    Fault("F02", processes.the_master_is_killed),
    Fault("F03", processes.it_is_deployed_anew),
    Fault("F04", database.the_database_restarts),
    Fault("F05", database.the_database_crashes, is_short=True),
    Fault("F06", database.the_database_is_down),
    Fault("F07", database.the_database_is_down_at_the_start),
    Fault("F08", database.connections_run_out),
    Fault("F09", locks.a_table_is_locked),
    Fault("F10", locks.a_trip_is_locked, is_short=True),
    Fault("F11", locks.there_is_a_deadlock),
    Fault("F12", processes.a_worker_freezes),
    Fault("F13", loads.clients_are_slow),
    Fault("F14", loads.the_disk_is_full, environment="small sqlite"),
    Fault("F15", loads.the_disk_is_full, environment="small postgresql"),
    Fault("F16", loads.sixteen_write_at_once, environment="sqlite"),
    Fault("F20", loads.clients_give_up_early, is_short=True),
    Fault("F21", migrating.tables_change_in_use),
    Fault("F22", migrating.three_migrate_at_once),
    Fault("F23", loads.the_counter_is_away),
    Fault("F24", loads.everybody_logs_in),
    Fault("F25", loads.a_copy_is_taken),
    Fault("F37", loads.a_copy_is_taken, environment="sqlite"),
    Fault("F39", loads.a_second_is_restored, environment="archived postgresql"),
    Fault("F26", loads.it_runs_for_long),
    Fault("F27", database.the_database_falls_silent),
    Fault("F30", locks.every_thread_is_busy),
    Fault("F33", processes.it_is_reloaded),
    Fault("F34", people.an_invitation_is_accepted_by_many),
    Fault("F35", people.a_guest_is_wanted_by_many),
    Fault("F36", loads.one_account_floods),
    Fault("F40", processes.programs_lose_answers),
    Fault("F38", files.workers_die_and_files_are_away),
    Fault("F42", recurring.recorders_are_killed),
    Fault("F43", followers.followers_lose_a_worker),
    Fault("F44", followers.followers_lose_the_database),
    Fault("F45", providers.a_provider_is_silent),
]


@contextmanager
def disk(mebibytes: int) -> Iterator[Path]:
    """An in-memory disk of that size; raises `LookupError` if it cannot be mounted."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        raise LookupError("a small disk needs root on Linux")
    with tempfile.TemporaryDirectory(prefix="tripcompanion-disk-") as place:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=755", "tmpfs", place]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise LookupError("this machine cannot mount a small disk")
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def postgresql(home: Path, programs_home: Path) -> Iterator[Cluster]:
    """A new PostgreSQL server with an empty database."""
    reasons = []
    for programs in (installed_programs, wheel_programs):
        try:
            cluster = Cluster(programs(programs_home), home, _SETTINGS)
            cluster.start()
            break
        except Unavailable as reason:
            reasons.append(str(reason))
    else:
        raise SystemExit(f"There is no PostgreSQL: {'; '.join(reasons)}")
    try:
        admin = cluster.url.removesuffix("/tripcompanion") + "/postgres"
        with psycopg.connect(admin, autocommit=True) as connection:
            # Not a superuser: the reserved connections stay available for inspection.
            connection.execute("CREATE ROLE app LOGIN PASSWORD 'app' CREATEDB")
            connection.execute("CREATE DATABASE tripcompanion OWNER app")
        yield cluster
    finally:
        with suppress(Unavailable):
            cluster.stop("immediate")


@contextmanager
def staged(kind: str, seconds: float) -> Iterator[tuple[Environment, Path]]:
    """An environment of this kind, and the directory or disk of its database."""
    with ExitStack() as stack:
        temporary = partial(tempfile.TemporaryDirectory, prefix="tripcompanion-chaos-")
        if kind.startswith("small"):
            size = _SQLITE_DISK_MIB if kind.endswith("sqlite") else _DISK_MIB
            place = stack.enter_context(disk(size))
        else:
            place = Path(stack.enter_context(temporary()))
        cluster, url = None, f"sqlite:///{place / 'chaos.sqlite3'}"
        if kind.endswith("postgresql"):
            programs_home = Path(stack.enter_context(temporary()))
            programs_home.chmod(0o755)
            home = place / "home"
            home.mkdir()
            place.chmod(0o755)
            cluster = stack.enter_context(postgresql(home, programs_home))
            secret = cluster.url.partition("//")[2].partition("@")[0]
            url = cluster.url.replace(secret, "app:app")
        store = Path(stack.enter_context(temporary())) / "files"
        store.mkdir()
        service = stack.enter_context(
            running(url, ATTACHMENTS_STORE=str(store), SPLITWISE_API="true")
        )
        yield Environment(service, Scene.make(service.url), cluster, seconds, []), place


def perform(fault: Fault, environment: Environment, place: Path) -> Row:
    """Run one fault and compare. Raises `Failed`, or `LookupError` if the fault cannot run."""
    environment.remarks.clear()
    play = partial(fault.play, disk=place) if fault.environment.startswith("small") else fault.play
    journal = play(environment)
    title = (fault.play.__doc__ or "").partition(":")[2].strip().partition("\n")[0].rstrip(".")
    return environment.row(f"{fault.number} {title}", journal)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="a few faults, in less than a minute")
    parser.add_argument("--only", default="", help="comma-separated numbers: F01,F05")
    parser.add_argument("--seconds", type=float, default=0, help="duration of each fault")
    options = parser.parse_args()
    seconds = options.seconds or (2.0 if options.short else 4.0)
    wanted = options.only.split(",") if options.only else [fault.number for fault in FAULTS]
    chosen = [
        fault
        for fault in FAULTS
        if fault.number in wanted and (fault.is_short or not options.short)
    ]
    rows, failures, not_played = [], [], []
    started = time.monotonic()
    for kind in dict.fromkeys(fault.environment for fault in chosen):
        mine = [fault for fault in chosen if fault.environment == kind]
        try:
            with staged(kind, seconds) as (environment, place):
                for fault in mine:
                    say(f"{fault.number} {fault.play.__name__.replace('_', ' ')}")
                    try:
                        rows.append(perform(fault, environment, place))
                    except Failed as failure:
                        logged = environment.service.tracebacks()[:1]
                        failures.append("\n".join([f"{fault.number}: {failure}", *logged]))
                    except LookupError as reason:
                        not_played.append(f"{fault.number}: {reason}")
        except LookupError as reason:
            not_played += [f"{fault.number}: {reason}" for fault in mine]
    say("\n" + table(sorted(rows)))
    failures += [f"{row.fault}: data lost or different" for row in rows if not row.is_good]
    return concluded(rows, "faults", started, not_run=not_played, failures=failures)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = (
        "| Fault | requests | acknowledged | stored | lost | duplicated "
        "| worst recovery ms | worst intent ms | audit | remarks |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---|---|"
    )
    lines = [
        f"| {row.fault} | {row.requests} | {row.acknowledged} | {row.stored} | {row.lost} "
        f"| {row.duplicated} | {row.recovery_ms:.0f} | {row.worst_ms:.0f} | {row.audit} "
        f"| {row.remarks} |"
        for row in rows
    ]
    return "\n".join([head, *lines])


if __name__ == "__main__":
    sys.exit(main())
