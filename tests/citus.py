"""The coordinator of Citus in TEST_CITUS_URL, and a distributed test database there.

`DATABASE_URL` is the same. The role in it may create databases on all nodes, without a password.
"""

import os
from io import StringIO
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

#: A database that has the extension and knows the workers; empty if the tests run on another.
URL = os.environ.get("TEST_CITUS_URL", "")
if settings.DATABASE_URL != URL:
    URL = ""

#: Tests that store a row in another trip, or in none.
row_changes_trip = pytest.mark.skipif(bool(URL), reason="Citus never changes the trip of a row")


def drop_test_database() -> None:
    """Drop what a run left behind that broke off: Citus itself is connected to it."""
    name = connection.creation._get_test_db_name()
    for host, port, _is_coordinator in _nodes():
        with _connected(host, port, "postgres") as node:
            _drop(node, name)


def distribute_test_database() -> None:
    """Make the migrated test database one that is distributed over the nodes of `URL`."""
    name = connection.settings_dict["NAME"]
    workers = [(host, port) for host, port, is_coordinator in _nodes() if not is_coordinator]
    for host, port in workers:
        with _connected(host, port, "postgres") as worker:
            _drop(worker, name)
            worker.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        with _connected(host, port, name) as worker:
            worker.execute("CREATE EXTENSION citus")
    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION citus")
        for host, port, is_coordinator in _nodes():
            function = "citus_set_coordinator_host" if is_coordinator else "citus_add_node"
            cursor.execute(f"SELECT {function}(%s, %s)", [host, port])
    call_command("distribute", stdout=StringIO())
    # Settings of the database count from the next connection on.
    connection.close()


def close_test_database() -> None:
    """Let nobody in, so that Django can drop it."""
    name = connection.settings_dict["NAME"]
    connection.close()
    for host, port, is_coordinator in _nodes():
        with _connected(host, port, "postgres") as node:
            if is_coordinator:
                closing = "ALTER DATABASE {} ALLOW_CONNECTIONS false"
                node.execute(sql.SQL(closing).format(sql.Identifier(name)))
                ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
                node.execute(ending, [name])
            else:
                _drop(node, name)


def _nodes() -> list[tuple[str, int, bool]]:
    """Host and port of each node, and whether it is the coordinator, which comes first."""
    with psycopg.connect(URL) as known:
        return known.execute(
            "SELECT nodename, nodeport, groupid = 0 FROM pg_dist_node ORDER BY groupid"
        ).fetchall()


def _connected(host: str, port: int, name: str) -> psycopg.Connection:
    user = urlsplit(URL).username
    return psycopg.connect(host=host, port=port, user=user, dbname=name, autocommit=True)


def _drop(node: psycopg.Connection, name: str) -> None:
    node.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
