"""Slow, impatient or too many clients, full disks, and a backup during writes."""

import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Process
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg

from chaos.environment import Environment
from chaos.service import WORKERS
from chaos.writers import PASSWORD, Journal
from tests.pgbackrest import PgBackRest
from tests.programs import program

_CONNECTIONS = 200
_LOGINS = 32
_FLOOD = 600
_STRANGER_MS = 250
_FILLER = "filler"
#: Maximum number of attempts to cause the effect under test.
_MANY = 20


def clients_are_slow(environment: Environment) -> Journal:
    """F13: 100 clients send their headers and 100 their bodies one byte at a time."""
    ending = threading.Event()
    head = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    body = (
        b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )
    with environment.load(timeout_seconds=30) as journal:
        sockets = []
        for number in range(_CONNECTIONS):
            sockets.append(socket.create_connection(("127.0.0.1", environment.service.port)))
            sockets[-1].sendall(head if number % 2 else body)
        dripping = threading.Thread(target=_drip, args=(sockets, ending))
        dripping.start()
        environment.note(_health_percentile(environment, lambda: False))
        ending.set()
        dripping.join()
        for one in sockets:
            one.close()
        journal.mark()
    return journal


def _drip(sockets: list[socket.socket], ending: threading.Event) -> None:
    while not ending.wait(0.5):
        for one in sockets:
            with suppress(OSError):
                one.sendall(b"x")


def _health_percentile(environment: Environment, over: Callable[[], bool]) -> str:
    """The 99th percentile that a healthy client measures, as a remark."""
    times: list[float] = []
    until = time.monotonic() + environment.seconds
    with httpx.Client(base_url=environment.service.url, timeout=30) as http:
        while time.monotonic() < until and not over():
            started = time.monotonic()
            try:
                http.get("/api/health", headers={"Connection": "close"})
            except httpx.TransportError:
                environment.note("a healthy client was cut off")
            times.append(time.monotonic() - started)
            time.sleep(0.02)
    worst = statistics.quantiles(times, n=100)[-1] if len(times) > 1 else times[0]
    return f"health p99 {worst * 1000:.0f} ms with {_CONNECTIONS} slow clients"


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


def everybody_logs_in(environment: Environment) -> Journal:
    """F24: 32 clients guess passwords as fast as possible."""
    ending, answers = threading.Event(), []

    def guess() -> None:
        with httpx.Client(base_url=environment.service.url, timeout=30) as http:
            while not ending.is_set():
                body = {"email": "nobody@example.com", "password": PASSWORD}
                answers.append(http.post("/api/users/login", json=body).status_code)

    with environment.load(timeout_seconds=30) as journal:
        threads = [threading.Thread(target=guess) for _one in range(_LOGINS)]
        for thread in threads:
            thread.start()
        time.sleep(environment.seconds)
        ending.set()
        for thread in threads:
            thread.join()
        journal.mark()
    environment.require(set(answers) <= {401, 429, 503}, f"logins returned {set(answers)}")
    environment.note(
        f"{len(answers)} guesses; largest worker {environment.service.memory_mib():.0f} MiB"
    )
    return journal


def one_account_floods(environment: Environment) -> Journal:
    """F36: one account sends 600 writes at once, again and again; others wait under 250 ms."""
    scene, body = environment.scene, b'{"amount": 11}'
    with httpx.Client(base_url=f"{scene.url}/api", timeout=30) as http:
        account = {"email": f"s{uuid.uuid4().hex}@example.com", "password": PASSWORD}
        token = http.post("/users/register", json=account).raise_for_status().json()["token"]
        own = {"Authorization": f"Bearer {scene.tokens[0]}"}
        expense = {
            "description": "flooded", "amount": 10, "expenseDate": "2026-05-14",
            "splitType": "EQUAL", "participantUserIds": scene.user_ids,
        }  # fmt: skip
        path = f"/trips/{scene.trip_id}/expenses"
        made = http.post(path, json=expense, headers=own).raise_for_status().json()
        request = (
            f"PATCH /api{path}/{made['id']} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {scene.tokens[0]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        flood = Process(target=_flood, args=(environment.service.port, request.encode() + body))
        times: list[float] = []
        with environment.load(writers=2, timeout_seconds=30) as journal:
            flood.start()
            time.sleep(1)
            until = time.monotonic() + max(environment.seconds, 6)
            stranger = {"Authorization": f"Bearer {token}"}
            while time.monotonic() < until:
                started = time.monotonic()
                status = http.get("/trips", headers=stranger).status_code
                times.append(time.monotonic() - started)
                environment.require(status == 200, f"a stranger got {status}")
                time.sleep(0.02)
            flood.kill()
            flood.join()
            journal.mark()
        http.delete(f"{path}/{made['id']}", headers=own).raise_for_status()
    slow = statistics.quantiles(times, n=100)[98] * 1000
    environment.require(slow < _STRANGER_MS, f"a stranger's 99th percentile was {slow:.0f} ms")
    environment.note(f"a stranger's 99th percentile {slow:.0f} ms")
    return journal


def _flood(port: int, request: bytes) -> None:
    """Send the request on many connections at once, read the responses, and begin again."""
    while True:
        sockets = []
        for _number in range(_FLOOD):
            with suppress(OSError):
                sockets.append(socket.create_connection(("127.0.0.1", port)))
                sockets[-1].sendall(request)
        for one in sockets:
            with suppress(OSError):
                while one.recv(65536):
                    pass
            one.close()


def the_counter_is_away(environment: Environment) -> Journal:
    """F23: Redis, which stores the throttle counters, dies; everything works, logins too."""
    server = program("redis-server")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    redis = subprocess.Popen(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    limits = {"THROTTLE_LOGIN": "1000/min", "THROTTLE_USER": "100000/min"}
    try:
        time.sleep(0.5)
        cache = f"redis://127.0.0.1:{port}/0"
        with environment.other_service(CACHE_URL=cache, **limits) as service:
            body = {"email": "nobody@example.com", "password": PASSWORD}
            with (
                environment.load() as journal,
                httpx.Client(base_url=service.url, timeout=20) as http,
            ):
                before = http.post("/api/users/login", json=body).status_code
                redis.kill()
                redis.wait()
                journal.mark()
                after = http.post("/api/users/login", json=body).status_code
                environment.require((before, after) == (401, 401), f"login: {before}, then {after}")
                ready = http.get("/api/health/ready").json()
                environment.require(ready.get("degraded") == ["redis"], f"ready says {ready}")
                environment.note("logins worked; readiness named Redis")
    finally:
        redis.kill()
        redis.wait()
    environment.require(not journal.answers[503], "writes were rejected")
    return journal


def a_copy_is_taken(environment: Environment) -> Journal:
    """F25: a backup during writes is restored beside; it has what was acknowledged before it."""
    service, cluster = environment.service, environment.cluster
    if cluster is not None and not (cluster.programs / "pg_dump").exists():
        raise LookupError("pg_dump is not installed")
    # Those of the faults before this one are in the backup, too.
    earlier = set(environment.stored_keys())
    with tempfile.TemporaryDirectory() as folder, environment.load() as journal:
        before = {intent.key for intent in journal.acknowledged}
        programs = f"{cluster.programs}:{os.environ['PATH']}" if cluster else os.environ["PATH"]
        service.environment["PATH"] = programs
        made = service.manage("backup", folder)
        environment.require(made.returncode == 0, f"no backup: {made.stderr[:300]}")
        journal.mark()
        own = service.environment["DATABASE_URL"]
        service.environment["DATABASE_URL"] = _beside(environment, Path(folder))
        commands = (["restore", made.stdout.strip()], ["migrate_safely"], ["audit_ledger"])
        results = [service.manage(*command) for command in commands]
        stored = set(environment.stored_keys())
        service.environment["DATABASE_URL"] = own
    for result in results:
        environment.require(result.returncode == 0, f"not restored: {result.stderr[:300]}")
    missing = before - stored
    environment.require(not missing, f"{len(missing)} acknowledged writes are not in the backup")
    unknown = stored - earlier - {intent.key for intent in journal.intents}
    environment.require(not unknown, f"{len(unknown)} rows of the backup were never sent")
    environment.note(
        f"{len(stored - earlier)} writes in the backup, {len(before)} older; silent audit"
    )
    return journal


def a_second_is_restored(environment: Environment) -> Journal:
    """F39: pgBackRest restores a second beside; it has what was acknowledged until then, no more.

    PostgreSQL archives its log all the time, by the files in deploy/pgbackrest.
    """
    cluster, service = environment.cluster, environment.service
    program("pgbackrest")
    if cluster is None:
        raise LookupError("SQLite has no such log")
    backup = PgBackRest(cluster.home)
    cluster.configure(backup.server_settings)
    cluster.stop()
    cluster.start()
    backup.configure(cluster)
    backup.run(cluster, "stanza-create")
    with environment.load() as journal, psycopg.connect(cluster.url, autocommit=True) as admin:
        backup.run(cluster, "backup", "--type=full")
        time.sleep(environment.seconds / 4)
        before = {intent.key for intent in journal.acknowledged}
        # pgBackRest compares whole seconds.
        time.sleep(1.1)
        [(moment,)] = admin.execute("SELECT now()::text").fetchall()
        tried = {intent.key for intent in journal.intents}
        time.sleep(environment.seconds / 4)
        journal.mark()
        admin.execute("SELECT pg_switch_wal()")
    later = {intent.key for intent in journal.acknowledged} - tried
    with tempfile.TemporaryDirectory(prefix="tripcompanion-recovery-") as folder:
        Path(folder).chmod(0o755)
        other = cluster.beside(
            Path(folder),
            lambda to: backup.run(
                to, "restore", f"--pg1-path={to.home / 'data'}", "--type=time",
                f"--target={moment}", "--target-action=promote", "--archive-mode=off",
            ),
        )  # fmt: skip
        other.start()
        try:
            with psycopg.connect(other.url, autocommit=True) as admin:
                while admin.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
                    time.sleep(0.1)
            own = service.environment["DATABASE_URL"]
            port = urlsplit(own).netloc.rpartition(":")[0] + f":{urlsplit(other.url).port}"
            service.environment["DATABASE_URL"] = urlsplit(own)._replace(netloc=port).geturl()
            stored, audit = set(environment.stored_keys()), service.manage("audit_ledger")
            service.environment["DATABASE_URL"] = own
        finally:
            other.stop("immediate")
    environment.require(audit.returncode == 0, f"not restored: {audit.stderr[:300]}")
    environment.require(bool(before) and before <= stored, f"{len(before - stored)} are missing")
    environment.require(bool(later) and not later & stored, f"{len(later & stored)} came later")
    environment.note(f"{len(stored)} writes until then, {len(later)} later; silent audit")
    return journal


def _beside(environment: Environment, folder: Path) -> str:
    """The URL of an empty database of the same kind."""
    url = urlsplit(environment.service.environment["DATABASE_URL"])
    if environment.cluster is None:
        return f"sqlite:///{folder / 'restored.sqlite3'}"
    with environment.database() as admin:
        admin.execute(f"CREATE DATABASE {url.path[1:]}_restored")
    return url._replace(path=f"{url.path}_restored").geturl()


def the_disk_is_full(environment: Environment, disk: Path) -> Journal:
    """F14, F15: the database's disk is full until space is freed."""
    filler = disk / _FILLER
    with environment.load() as journal:
        _fill(filler)
        time.sleep(max(2.0, environment.seconds / 2))
        refused = journal.answers[503]
        environment.require(environment.service.status("/api/health") == 200, "not live")
        filler.unlink()
        journal.mark()
    environment.require(refused > 0, "nothing was rejected, so the disk was not full")
    kind = "SQLite" if environment.cluster is None else "PostgreSQL"
    environment.note(f"{kind}; {refused} writes rejected while it was full")
    return journal


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        size = 1024 * 1024
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2


def it_runs_for_long(environment: Environment) -> Journal:
    """F26: a run five times as long; memory and connections do not grow."""
    connections = "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user"
    with environment.load(writers=4) as journal, environment.database() as watcher:
        time.sleep(environment.seconds)
        early_mib = environment.service.memory_mib()
        time.sleep(environment.seconds * 4)
        late_mib = environment.service.memory_mib()
        (held,) = watcher.execute(connections).fetchone()
    environment.note(f"largest worker {early_mib:.0f}, then {late_mib:.0f} MiB; {held} connections")
    environment.require(
        late_mib < early_mib * 1.1, f"memory grew from {early_mib} to {late_mib} MiB"
    )
    environment.require(held <= WORKERS * 4 + 1, f"{held} connections")
    return journal


def sixteen_write_at_once(environment: Environment) -> Journal:
    """F16: sixteen clients write to SQLite, which has one writer at a time.

    One that waits longer than the service lets it is told to come again; that happens to few.
    """
    with environment.load(writers=16, timeout_seconds=30) as journal:
        time.sleep(environment.seconds)
    rejected, all_answers = journal.answers[503], journal.answers.total()
    environment.require(rejected * 4 <= all_answers, f"{rejected} of {all_answers} were rejected")
    return journal
