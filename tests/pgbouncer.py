"""A real PgBouncer in transaction mode, with the configuration from deploy/databases.md."""

import os
import pwd
import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from tests.programs import program, running
from tests.server import ROOT, free_port

#: Fewer than the clients have, so that they share server connections.
POOL_SIZE = 3
#: The first version whose prepared statements psycopg can use.
PREPARING = (1, 22)


@dataclass(frozen=True)
class Pooled:
    """A new, empty database."""

    #: Through PgBouncer, and directly.
    url: str
    direct_url: str

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.url, "DATABASE_POOLER": "transaction"}

    def directly(self, statement: str) -> list[Any]:
        with psycopg.connect(self.direct_url, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def pgbouncer(pool_size: int = POOL_SIZE) -> Iterator[Pooled]:
    """Start it in front of the server in DATABASE_URL."""
    name = f"tripcompanion_pooled_{secrets.token_hex(4)}"
    direct = urlsplit(settings.DATABASE_URL)._replace(scheme="postgresql")
    with pooling(settings.DATABASE_URL, pool_size) as login:
        pooled = Pooled(
            f"postgres://{login}/{name}?sslmode=disable", direct._replace(path=f"/{name}").geturl()
        )
        with _database(direct._replace(path="/postgres").geturl(), name):
            yield pooled


def version() -> tuple[int, ...]:
    """Such as (1, 18, 0)."""
    command = [program("pgbouncer"), "--version"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    [(major, minor, patch)] = re.findall(r"^PgBouncer (\d+)\.(\d+)\.(\d+)", text)
    return int(major), int(minor), int(patch)


@contextmanager
def pooling(server_url: str, pool_size: int) -> Iterator[str]:
    """Start it in front of this server; yields user, password, host and port for its clients."""
    behind = conninfo_to_dict(server_url)
    user, password = behind.get("user", "postgres"), behind.get("password", "")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="tripcompanion-") as folder:
        home = Path(folder)
        (home / "userlist.txt").write_text(f'"{user}" "{password}"\n')
        host = f"host={behind.get('host', '127.0.0.1')} port={behind.get('port', 5432)}"
        configuration = _configuration(home, host, port, pool_size)
        if version() >= PREPARING:
            # The default only from 1.24 on.
            configuration += "max_prepared_statements = 200\n"
        (home / "pgbouncer.ini").write_text(f"{configuration}stats_users = {user}\n")
        command = [program("pgbouncer"), "--quiet", str(home / "pgbouncer.ini")]
        with running(command, port, **_unprivileged(home), stderr=subprocess.DEVNULL):
            yield f"{quote(str(user))}:{quote(str(password))}@127.0.0.1:{port}"


def _configuration(home: Path, host: str, port: int, pool_size: int) -> str:
    """That of deploy/databases.md, for any database of this server and without passwords."""
    text = (ROOT / "deploy" / "databases.md").read_text()
    [lines] = re.findall(r"^```ini\n(\[databases\].*?)^```$", text, re.DOTALL | re.MULTILINE)
    changes = {
        r"^tripcompanion = .*": f"* = {host}",
        r"^listen_port = .*": f"listen_port = {port}\nunix_socket_dir =",
        r"^auth_type = .*": "auth_type = trust",
        r"^auth_file = .*": f"auth_file = {home / 'userlist.txt'}",
        r"^default_pool_size = .*": f"default_pool_size = {pool_size}",
    }
    for line, change in changes.items():
        lines, found = re.subn(line, change, lines, flags=re.MULTILINE)
        assert found == 1, line
    assert "pool_mode = transaction" in lines
    return lines


def _unprivileged(home: Path) -> dict[str, Any]:
    """PgBouncer does not run as root, who lets `nobody` run it."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    for path in (home, *home.iterdir()):
        os.chown(path, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextmanager
def _database(administrator_url: str, name: str) -> Iterator[None]:
    with psycopg.connect(administrator_url, autocommit=True) as administrator:
        administrator.execute(f'CREATE DATABASE "{name}"')
        try:
            yield
        finally:
            administrator.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
