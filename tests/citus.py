"""The coordinator of Citus in TEST_CITUS_URL, and a distributed test database there.

`DATABASE_URL` is the same. The role in it may create databases on all nodes, without a password.
"""

import os
from io import StringIO
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

#: A database that has the extension and knows the workers; empty if the tests run on another.
URL = os.environ.get("TEST_CITUS_URL", "")
if URL and settings.DATABASE_URL != URL:
    URL = ""

#: Tests that store a row in another trip, or in none.
row_changes_trip = pytest.mark.skipif(bool(URL), reason="Citus never changes the trip of a row")
#: Tests that unapply migrations.
unapplies_migrations = pytest.mark.skipif(bool(URL), reason="Nothing leads back from `distribute`")
#: Tests of what PostgreSQL means to read. Their rows are inserted in a way that Citus refuses, too.
hides_plans = pytest.mark.skipif(
    bool(URL), reason="EXPLAIN on the coordinator shows no index of a shard"
)

_SETTINGS = (
    "SELECT unnest(setconfig) FROM pg_db_role_setting "
    "JOIN pg_database ON pg_database.oid = setdatabase WHERE datname = %s"
)


def drop_test_database() -> None:
    """Drop what a run left behind that broke off: Citus itself is connected to it."""
    drop_database(connection.creation._get_test_db_name())


def distribute_test_database() -> None:
    """Make the migrated test database one that is distributed over the nodes of `URL`.

    There is none if no selected test needs it.
    """
    if not _has_test_database():
        return
    join_nodes(connection.settings_dict["NAME"])
    call_command("distribute", stdout=StringIO())
    # Settings of the database count from the next connection on.
    connection.close()


def close_test_database() -> None:
    """Let nobody in, so that Django can drop it."""
    if not _has_test_database():
        return
    name = connection.settings_dict["NAME"]
    connection.close()
    coordinator, *workers = nodes()
    coordinator.close(name)
    for worker in workers:
        worker.drop(name)


def _has_test_database() -> bool:
    return connection.settings_dict["NAME"] != urlsplit(URL).path.removeprefix("/")


class Node(NamedTuple):
    """A server of the cluster."""

    host: str
    port: int

    def connected(self, name: str = "postgres") -> psycopg.Connection:
        user = urlsplit(URL).username
        return psycopg.connect(
            host=self.host, port=self.port, user=user, dbname=name, autocommit=True
        )

    def create(self, name: str, template: str = "template1") -> None:
        self._change("CREATE DATABASE {} TEMPLATE {}", name, template)

    def drop(self, name: str) -> None:
        self._change("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def close(self, name: str) -> None:
        """Let nobody in, not even Citus itself."""
        self._change("ALTER DATABASE {} ALLOW_CONNECTIONS false", name)
        with self.connected() as server:
            ending = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            server.execute(f"{ending} WHERE datname = %s", [name])

    def _change(self, statement: str, *names: str) -> None:
        with self.connected() as server:
            server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def nodes() -> list[Node]:
    """Those that the database in `URL` knows, the coordinator first."""
    with psycopg.connect(URL) as known:
        found = known.execute("SELECT nodename, nodeport FROM pg_dist_node ORDER BY groupid")
        return [Node(*row) for row in found]


def join_nodes(name: str) -> None:
    """Create the coordinator's database on the workers, too, and let them know each other."""
    coordinator, *workers = nodes()
    for worker in workers:
        worker.drop(name)
        worker.create(name)
    for node in (coordinator, *workers):
        with node.connected(name) as server:
            server.execute("CREATE EXTENSION citus")
    with coordinator.connected(name) as server:
        server.execute("SELECT citus_set_coordinator_host(%s, %s)", coordinator)
        for worker in workers:
            server.execute("SELECT citus_add_node(%s, %s)", worker)


def close_database(name: str) -> None:
    """Let nobody in, on any node."""
    for node in nodes():
        node.close(name)


def drop_database(name: str) -> None:
    for node in nodes():
        node.drop(name)


def copy_database(template: str, name: str) -> None:
    """Copy a distributed database that nobody uses, with its settings."""
    for node in nodes():
        node.create(name, template)
        with node.connected() as server:
            for (setting,) in server.execute(_SETTINGS, [template]).fetchall():
                key, _, value = setting.partition("=")
                names = sql.Identifier(name), sql.Identifier(*key.split("."))
                server.execute(sql.SQL("ALTER DATABASE {} SET {} TO {}").format(*names, value))
