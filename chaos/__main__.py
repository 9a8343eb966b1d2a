"""`make chaos`: plays the faults one after the other, and prints what each did to the data.

Exit status 1 if something that was acknowledged is lost or stored twice, if the audit finds a
difference, or if the service behaves in another way than the fault's docstring says.
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

from chaos import faults, loads, migrating
from chaos.service import running
from chaos.stage import Failed, Play, Row, Stage
from chaos.writers import Scene
from tests.postgres import Cluster, Unavailable, installed_programs, wheel_programs

#: A real one survives a crash, so it must write as in production; few connections, to run out of.
_SETTINGS = "max_connections = 40\nfsync = on\n"
_DISK_MIB = 160
_SQLITE_DISK_MIB = 8


class Fault(NamedTuple):
    """A line of the table: what is played, on which stage, and whether also in the short form."""

    number: str
    play: Play
    stage: str = "postgresql"
    is_short: bool = False


FAULTS = [
    Fault("F01", faults.workers_are_killed, is_short=True),
    Fault("F02", faults.the_master_is_killed),
    Fault("F03", faults.it_is_deployed_anew, is_short=True),
    Fault("F04", faults.the_database_restarts),
    Fault("F05", faults.the_database_crashes, is_short=True),
    Fault("F06", faults.the_database_is_down),
    Fault("F07", faults.the_database_is_down_at_the_start),
    Fault("F08", faults.connections_run_out),
    Fault("F09", faults.a_table_is_locked),
    Fault("F10", faults.a_trip_is_locked, is_short=True),
    Fault("F11", faults.there_is_a_deadlock),
    Fault("F12", faults.a_worker_freezes),
    Fault("F13", loads.clients_are_slow),
    Fault("F14", loads.the_disk_is_full, stage="small sqlite"),
    Fault("F15", loads.the_disk_is_full, stage="small postgresql"),
    Fault("F16", loads.sixteen_write_at_once, stage="sqlite", is_short=True),
    Fault("F20", faults.clients_give_up_early, is_short=True),
    Fault("F21", migrating.tables_change_in_use),
    Fault("F22", faults.three_migrate_at_once),
    Fault("F23", loads.the_counter_is_away),
    Fault("F24", loads.everybody_logs_in),
    Fault("F25", loads.a_copy_is_taken),
    Fault("F26", loads.it_runs_for_long),
    Fault("F27", faults.the_database_falls_silent),
    Fault("F30", faults.every_thread_is_busy),
    Fault("F33", faults.it_is_reloaded),
]


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def disk(mebibytes: int) -> Iterator[Path]:
    """A disk of that size in memory; raises `LookupError` if this machine lets us have none."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        raise LookupError("a small disk needs root on Linux")
    with tempfile.TemporaryDirectory(prefix="tripcompanion-disk-") as place:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=755", "tmpfs", place]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise LookupError("this machine mounts no small disk")
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def postgresql(home: Path, programs_home: Path) -> Iterator[Cluster]:
    """A new PostgreSQL with an empty database."""
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
            # Not a superuser: the last connections stay for whoever has to look.
            connection.execute("CREATE ROLE app LOGIN PASSWORD 'app' CREATEDB")
            connection.execute("CREATE DATABASE tripcompanion OWNER app")
        yield cluster
    finally:
        with suppress(Unavailable):
            cluster.stop("immediate")


@contextmanager
def staged(kind: str, seconds: float) -> Iterator[tuple[Stage, Path]]:
    """A stage of its kind, and the disk that its database is on."""
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
        service = stack.enter_context(running(url))
        yield Stage(service, Scene.make(service.url), cluster, seconds, []), place


def perform(fault: Fault, stage: Stage, place: Path) -> Row:
    """Play one fault, and compare afterwards. Raises `Failed`, or `LookupError` if it cannot be."""
    stage.remarks.clear()
    play = partial(fault.play, disk=place) if fault.stage.startswith("small") else fault.play
    journal = play(stage)
    title = (fault.play.__doc__ or "").partition(":")[2].strip().partition("\n")[0].rstrip(".")
    return stage.row(f"{fault.number} {title}", journal)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="a few faults, in half a minute")
    parser.add_argument("--only", default="", help="comma-separated numbers: F01,F05")
    parser.add_argument("--seconds", type=float, default=0, help="how long each is played")
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
    for kind in dict.fromkeys(fault.stage for fault in chosen):
        mine = [fault for fault in chosen if fault.stage == kind]
        try:
            with staged(kind, seconds) as (stage, place):
                for fault in mine:
                    say(f"{fault.number} {fault.play.__name__.replace('_', ' ')}")
                    try:
                        rows.append(perform(fault, stage, place))
                    except Failed as failure:
                        failures.append(f"{fault.number}: {failure}")
                    except LookupError as reason:
                        not_played.append(f"{fault.number}: {reason}")
        except LookupError as reason:
            not_played += [f"{fault.number}: {reason}" for fault in mine]
    say("\n" + table(sorted(rows)))
    failures += [f"{row.fault}: data lost or different" for row in rows if not row.is_good]
    for line in not_played:
        say(f"Not played: {line}")
    for line in failures:
        say(f"FAILED {line}")
    say(f"{len(rows)} faults in {time.monotonic() - started:.0f} s, {len(failures)} failed.")
    return int(bool(failures) or not rows)


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
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
