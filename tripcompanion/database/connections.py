"""How Django connects to databases: the rows of `DATABASES`, from the values in `settings.py`."""

import os
import re
from typing import Any

import dj_database_url
import psycopg
from psycopg.conninfo import conninfo_to_dict

from tripcompanion import environment as env

#: Values of DATABASE_POOLER.
POOLERS = ("none", "transaction")
_POSTGRESQL = "tripcompanion.database.postgresql"
#: A comma in the part of the URL that names the hosts.
_HOST_LIST = re.compile(r"postgres(ql)?://([^/?]*@)?[^/?@]*,[^/?@]*([/?]|$)")
#: The JIT mostly takes longer to compile a statement than to run it.
_PLANNING = {"jit": "off"}


def connection_settings(
    url: str, *, pool_size: int, timeout_seconds: int, prepare: bool, pooler: str
) -> dict[str, Any]:
    """A row of `DATABASES` for DATABASE_URL; stops the process if it cannot be used.

    `timeout_seconds` is 0 for none.
    """
    database = _parsed(url)
    if database["ENGINE"].endswith("sqlite3"):
        if pooler != "none":
            env.refuse("DATABASE_POOLER needs PostgreSQL, but DATABASE_URL is SQLite.")
        return database | _sqlite(pool_size)
    # Connecting takes longer than a query. The backend detects that the server is gone.
    database |= {
        "ENGINE": _POSTGRESQL,
        "CONN_MAX_AGE": None if pool_size else 0,
        "CONN_HEALTH_CHECKS": True,
    }
    options = database.get("OPTIONS", {})
    # `server_side_binding` stays off: it sends numbers in expressions as 32-bit integers and
    # truncates larger ones.
    database["OPTIONS"] = options | {
        "connect_timeout": 3,
        # None prepares nothing. Compiled statements are prepared at once, Django's own never,
        # because their values are part of the text.
        "prepare_threshold": 5 if prepare else None,
        # A connection to a server that has vanished fails after a minute, in commands too.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": 60_000,
    }
    if timeout_seconds:
        # A server that hangs, or is lost behind a proxy, cannot cancel a statement. So the client
        # closes the connection a second after the server's time-out.
        database["OPTIONS"]["wait_seconds"] = timeout_seconds + 1
    if pooler == "none":
        session = _PLANNING | _time_outs(timeout_seconds)
        given = [f"-c {name}={value}" for name, value in session.items()]
        database["OPTIONS"]["options"] = " ".join([str(options.get("options", "")), *given])
    else:
        _require_poolable(options)
        # libpq sends it as a start-up parameter, the only one with the encoding. Poolers keep both
        # for each client. Otherwise Django would have to set it for a session.
        os.environ["PGTZ"] = "UTC"
        # Commands set nothing: a statement such as VACUUM cannot be in a transaction.
        local = _PLANNING | _time_outs(timeout_seconds) if timeout_seconds else {}
        database["OPTIONS"] |= {"is_pooled": True, "local_settings": local}
    return database


def _parsed(url: str) -> dict[str, Any]:
    try:
        database = _several_hosts(url) if _HOST_LIST.match(url) else dj_database_url.parse(url)
    except (ValueError, dj_database_url.UnknownSchemeError, psycopg.ProgrammingError):
        database = {"ENGINE": ""}
    if str(database["ENGINE"]).rpartition(".")[2] not in {"sqlite3", "postgresql"}:
        env.refuse("DATABASE_URL must look like postgres://user:password@host:5432/name.")
    return dict(database)


def _several_hosts(url: str) -> dict[str, Any]:
    """The settings for libpq's URL of several hosts; raises `ValueError` for a wrong port."""
    given = conninfo_to_dict(url)
    hosts, ports = str(given.pop("host")), str(given.pop("port", "")).split(",")
    if len(ports) not in {1, hosts.count(",") + 1}:
        raise ValueError(ports)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": hosts,
        "PORT": ",".join(str(int(port or 5432)) for port in ports),
        "USER": given.pop("user", ""),
        "PASSWORD": given.pop("password", ""),
        "NAME": given.pop("dbname", ""),
        "OPTIONS": given,
    }


def _sqlite(pool_size: int) -> dict[str, Any]:
    return {
        # Opening the file for each request makes a small read take 2.3 times as long; opening it
        # once a second has no measurable cost. If the file is replaced under a running server, that
        # is noticed within a second. What is written until then is lost, so stop the server first.
        "CONN_MAX_AGE": 1 if pool_size else 0,
        # Without IMMEDIATE, a transaction that reads before it writes fails: "database is locked".
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def _time_outs(seconds: int) -> dict[str, str]:
    """Waits for locks are short, and a stalled client's transaction is ended with its locks."""
    if not seconds:
        return {}
    return {
        "statement_timeout": f"{seconds}s",
        "lock_timeout": f"{min(seconds, 2)}s",
        "idle_in_transaction_session_timeout": "10s",
    }


def _require_poolable(options: dict[str, Any]) -> None:
    """Stop the process if a setting belongs to a session, which a pooler shares among clients."""
    session_options = [name for name in ("options", "assume_role") if name in options]
    if session_options:
        env.refuse(
            f"DATABASE_URL sets {session_options[0]}, which DATABASE_POOLER=transaction cannot "
            "keep; use ALTER ROLE ... SET instead."
        )
    if os.environ.get("PGOPTIONS"):
        env.refuse("PGOPTIONS cannot be used with DATABASE_POOLER=transaction.")
