"""Clients that are slow or too many, disks that are full, and a copy taken while writing."""

import shutil
import socket
import statistics
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from chaos.service import WORKERS, running
from chaos.stage import Stage
from chaos.writers import PASSWORD, Journal

_CONNECTIONS = 200
_LOGINS = 32
_FILLER = "filler"


def clients_are_slow(stage: Stage) -> Journal:
    """F13: 100 clients send their headers, and 100 their bodies, a byte at a time."""
    ending = threading.Event()
    head = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    body = (
        b"POST /api/users/login HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )
    with stage.load(timeout_seconds=30) as journal:
        sockets = []
        for number in range(_CONNECTIONS):
            sockets.append(socket.create_connection(("127.0.0.1", stage.service.port)))
            sockets[-1].sendall(head if number % 2 else body)
        dripping = threading.Thread(target=_drip, args=(sockets, ending))
        dripping.start()
        stage.note(_health_percentile(stage, lambda: False))
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


def _health_percentile(stage: Stage, over: Callable[[], bool]) -> str:
    """What a healthy client sees meanwhile."""
    times: list[float] = []
    until = time.monotonic() + stage.seconds
    with httpx.Client(base_url=stage.service.url, timeout=30) as http:
        while time.monotonic() < until and not over():
            started = time.monotonic()
            try:
                http.get("/api/health", headers={"Connection": "close"})
            except httpx.TransportError:
                stage.note("a healthy client was cut off")
            times.append(time.monotonic() - started)
            time.sleep(0.02)
    worst = statistics.quantiles(times, n=100)[-1] if len(times) > 1 else times[0]
    return f"health p99 {worst * 1000:.0f} ms with {_CONNECTIONS} slow clients"


def everybody_logs_in(stage: Stage) -> Journal:
    """F24: 32 clients guess passwords as fast as they can."""
    ending, answers = threading.Event(), []

    def guess() -> None:
        with httpx.Client(base_url=stage.service.url, timeout=30) as http:
            while not ending.is_set():
                body = {"email": "nobody@example.com", "password": PASSWORD}
                answers.append(http.post("/api/users/login", json=body).status_code)

    with stage.load(timeout_seconds=30) as journal:
        threads = [threading.Thread(target=guess) for _one in range(_LOGINS)]
        for thread in threads:
            thread.start()
        time.sleep(stage.seconds)
        ending.set()
        for thread in threads:
            thread.join()
        journal.mark()
    stage.require(set(answers) <= {401, 429, 503}, f"log-ins answered {set(answers)}")
    stage.note(f"{len(answers)} guesses; largest worker {stage.service.memory_mib():.0f} MiB")
    return journal


def the_counter_is_away(stage: Stage) -> Journal:
    """F23: Redis, which counts the limits, dies: log-ins are refused, all else goes on."""
    program = shutil.which("redis-server")
    if not program:
        raise LookupError("there is no redis-server here")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    redis = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    limits = {"THROTTLE_LOGIN": "1000/min", "THROTTLE_USER": "100000/min"}
    url = stage.service.environment["DATABASE_URL"]
    try:
        time.sleep(0.5)
        # Tokens are good here too, since the key is the same.
        limits["SECRET_KEY"] = stage.service.environment["SECRET_KEY"]
        with running(url, CACHE_URL=f"redis://127.0.0.1:{port}/0", **limits) as service:
            stage.service, own = service, stage.service
            stage.scene.url, own_url = service.url, stage.scene.url
            body = {"email": "nobody@example.com", "password": PASSWORD}
            with stage.load() as journal, httpx.Client(base_url=service.url, timeout=20) as http:
                before = http.post("/api/users/login", json=body).status_code
                redis.kill()
                redis.wait()
                journal.mark()
                after = http.post("/api/users/login", json=body).status_code
                stage.require((before, after) == (401, 503), f"log-in: {before}, then {after}")
                stage.note("log-ins 503, the rest went on")
            stage.service, stage.scene.url = own, own_url
    finally:
        redis.kill()
        redis.wait()
    stage.require(not journal.answers[503], "writes were refused")
    return journal


def a_copy_is_taken(stage: Stage) -> Journal:
    """F25: pg_dump while writers write; the copy is a moment that once was."""
    cluster = stage.cluster
    if cluster is None or not (cluster.programs / "pg_dump").exists():
        raise LookupError("there is no pg_dump here")
    url = urlsplit(stage.service.environment["DATABASE_URL"])
    copy = url._replace(path=f"{url.path}_copy").geturl()
    archive = cluster.home / "copy.dump"
    with stage.load() as journal:
        dump = [cluster.programs / "pg_dump", "-Fc", "-f", archive, url.geturl()]
        subprocess.run(dump, check=True, capture_output=True)
        journal.mark()
    with stage.database() as admin:
        admin.execute(f"CREATE DATABASE {urlsplit(copy).path[1:]}")
    restore = [cluster.programs / "pg_restore", "-d", copy, archive]
    subprocess.run(restore, check=True, capture_output=True)
    own = stage.service.environment["DATABASE_URL"]
    stage.service.environment["DATABASE_URL"] = copy
    audit = stage.service.manage("audit_ledger")
    stage.service.environment["DATABASE_URL"] = own
    stage.require(audit.returncode == 0, f"the copy differs: {audit.stdout[:300]}")
    stage.note("the copy's audit is silent")
    return journal


def the_disk_is_full(stage: Stage, disk: Path) -> Journal:
    """F14, F15: nothing more fits on the disk of the database, until somebody makes room."""
    filler = disk / _FILLER
    with stage.load() as journal:
        _fill(filler)
        time.sleep(max(2.0, stage.seconds / 2))
        refused = journal.answers[503]
        stage.require(stage.service.status("/api/health") == 200, "not live")
        filler.unlink()
        journal.mark()
    stage.require(refused > 0, "nothing was refused: the disk was not full")
    kind = "SQLite" if stage.cluster is None else "PostgreSQL"
    stage.note(f"{kind}; {refused} writes refused while it was full")
    return journal


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        size = 1024 * 1024
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2


def it_runs_for_long(stage: Stage) -> Journal:
    """F26: five times as long as the others: memory and connections stay where they were."""
    connections = "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user"
    with stage.load(writers=4) as journal, stage.database() as watcher:
        time.sleep(stage.seconds)
        early_mib = stage.service.memory_mib()
        time.sleep(stage.seconds * 4)
        late_mib = stage.service.memory_mib()
        (held,) = watcher.execute(connections).fetchone()
    stage.note(f"largest worker {early_mib:.0f}, then {late_mib:.0f} MiB; {held} connections")
    stage.require(late_mib < early_mib * 1.1, f"memory grew from {early_mib} to {late_mib} MiB")
    stage.require(held <= WORKERS * 4 + 1, f"{held} connections")
    return journal


def sixteen_write_at_once(stage: Stage) -> Journal:
    """F16: SQLite has one writer at a time; sixteen wait for their turn and none is refused."""
    with stage.load(writers=16, timeout_seconds=30) as journal:
        time.sleep(stage.seconds)
    stage.require(not journal.answers[503], f"{journal.answers[503]} were refused")
    return journal
