"""A migrated database to copy: made once for each state of the migrations, then kept.

Migrations take seconds, a copy does not. SQLite's is a file in the folder for temporary files,
PostgreSQL's a database beside the one of the tests. The latest few are kept for other branches.
"""

import fcntl
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlsplit, urlunsplit

import django
import psycopg
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "tripcompanion_migrated_"
#: How many former ones PostgreSQL keeps.
KEPT = 4


@cache
def migrated_database(
    database_url: str, root: Path = ROOT, *, with_splitwise_api: bool = False
) -> str:
    """The file or the name of a database of this engine that the checkout in `root` migrated.

    Splitwise's API has tables of its own, for OAuth. They, and those of plugins that are added, are
    made in a copy of the usual database.
    """
    state = _state_of(root, os.environ.get("PLUGINS"))
    name = f"{PREFIX}{'splitwise_' * with_splitwise_api}{state}"
    migrate = partial(_migrate, root, **{"SPLITWISE_API": "true"} if with_splitwise_api else {})
    usual = migrated_database(database_url, root) if with_splitwise_api else ""
    parts = urlsplit(database_url)
    if parts.scheme.startswith("sqlite"):
        if os.environ.get("PLUGINS", "").startswith("+"):
            usual = _file(f"{PREFIX}{_state_of(root, plugins=None)}")
        path = Path(_file(name))
        with _locked(path.with_suffix(".lock")):
            if not path.exists():
                unfinished = path.with_suffix(".unfinished")
                unfinished.unlink(missing_ok=True)
                if usual and Path(usual).exists():
                    shutil.copy(usual, unfinished)
                migrate(DATABASE_URL=f"sqlite:///{unfinished}")
                unfinished.rename(path)
        return str(path)
    with administrator(database_url) as connection:
        connection.execute("SELECT pg_advisory_lock(hashtext(%s))", [PREFIX])
        names = "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid DESC"
        found = [row[0] for row in connection.execute(names, [PREFIX])]
        if name not in found:
            for former in found[KEPT:]:
                _drop_unused(connection, former)
            unfinished_name = f"{PREFIX}{secrets.token_hex(4)}"
            template = usual or "template1"
            connection.execute(_named("CREATE DATABASE {} TEMPLATE {}", unfinished_name, template))
            migrate(DATABASE_URL=urlunsplit(parts._replace(path=f"/{unfinished_name}")))
            connection.execute(_named("ALTER DATABASE {} RENAME TO {}", unfinished_name, name))
    return name


def _file(name: str) -> str:
    return str(Path(tempfile.gettempdir(), f"{name}_{os.getuid()}.sqlite3"))


def _state_of(root: Path, plugins: str | None) -> str:
    """What decides the tables: the migrations, their operations, the plugins, and Django."""
    files = [*root.glob("*/migrations/*.py"), *root.glob("*/*/migrations/*.py")]
    files += root.glob("tripcompanion/database/**/*.py")
    named = f"{django.__version__} {plugins}"
    # A plugin may be outside of the checkout.
    for name in re.findall(r"[\w.]+", plugins or ""):
        spec = find_spec(name)
        if spec and spec.origin:
            files += Path(spec.origin).parent.glob("migrations/*.py")
    contents = [named.encode(), *(path.read_bytes() for path in sorted(files))]
    return sha256(b"\0".join(contents)).hexdigest()[:12]


def _migrate(root: Path, **environment: str) -> None:
    own = {"DEBUG": "true", "SECRET_KEY": secrets.token_urlsafe(48)} | environment
    subprocess.run(
        [sys.executable, "manage.py", "migrate_safely", "--verbosity", "0"],
        cwd=root,
        env=os.environ | own,
        check=True,
    )


def administrator(database_url: str) -> psycopg.Connection[Any]:
    """A connection to the `postgres` database of the same server."""
    parts = urlsplit(database_url)
    url = urlunsplit(parts._replace(scheme="postgresql", path="/postgres"))
    return psycopg.connect(url, autocommit=True)


def _drop_unused(connection: psycopg.Connection[Any], name: str) -> None:
    """Drop a database, unless somebody copies it just now."""
    with suppress(psycopg.errors.ObjectInUse):
        connection.execute(_named("DROP DATABASE IF EXISTS {}", name))


def _named(statement: LiteralString, *names: str) -> sql.Composed:
    return sql.SQL(statement).format(*map(sql.Identifier, names))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
