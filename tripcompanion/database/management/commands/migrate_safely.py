"""Migrates a database that is in use. For every deployment; Django's `migrate` is unchanged."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections

from tripcompanion.database.watching import is_lock_timeout

#: The key of the advisory lock that the migrating process holds.
_LOCK = 7_219_004
#: While a migration waits for a table, all later statements queue behind it, so it waits briefly.
_LOCK_TIMEOUT = "1s"
_ATTEMPTS = 30
_PAUSE_SECONDS = 1
#: How long to wait while another process migrates; the default of `--wait`.
_WAIT_SECONDS = 600
#: The transaction that holds the lock is idle during the migration. If this machine disappears,
#: the server notices within a minute.
_HOLD_WHILE_IDLE = """
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL tcp_keepalives_idle = 30;
    SET LOCAL tcp_keepalives_interval = 10;
    SET LOCAL tcp_keepalives_count = 3
"""


class Command(migrate.Command):
    """Django's `migrate` and its options, with two additional rules on PostgreSQL.

    One process migrates while the others wait. A migration waits only briefly for a table that is
    in use, because all later statements on it would queue behind it; then it tries again.
    """

    help = "Runs `migrate` for a database in use: one process at a time, no long wait for a lock."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--wait",
            type=int,
            default=_WAIT_SECONDS,
            metavar="SECONDS",
            help=(
                "How long to wait while another process migrates; then exit with 1"
                f" (PostgreSQL only, default {_WAIT_SECONDS})."
            ),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        wait_seconds = options.pop("wait", _WAIT_SECONDS)
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        connection.ensure_connection()
        encoding = connection.connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise CommandError(f"Create the database with ENCODING 'UTF8': it has {encoding}.")
        with self._alone(connection, wait_seconds):
            self._migrate_patiently(connection, args, options)

    @contextmanager
    def _alone(self, connection: Any, wait_seconds: int) -> Iterator[None]:
        """Hold the lock. Raises `CommandError` if another process holds it for too long.

        A transaction on a separate connection holds the lock, so that it does not depend on the
        connection that migrates. When the transaction ends, even behind a pooler, it is released.
        """
        gate = connection.copy()
        try:
            gate.set_autocommit(False)
            with gate.cursor() as cursor:
                cursor.execute(_HOLD_WHILE_IDLE)
                deadline, is_waiting = time.monotonic() + wait_seconds, False
                while not _has_lock(cursor):
                    if time.monotonic() >= deadline:
                        raise CommandError(
                            f"Another process has been migrating for {wait_seconds} s. "
                            "Run this again when it is done."
                        )
                    if not is_waiting:
                        self.stderr.write("Another process is migrating; waiting for it.")
                    is_waiting = True
                    time.sleep(_PAUSE_SECONDS)
            yield
        finally:
            gate.close()

    def _migrate_patiently(self, connection: Any, args: Any, options: dict[str, Any]) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                # Migrations that were applied before the busy table are not repeated.
                with _short_lock_waits(connection):
                    super().handle(*args, **options)
                break
            except OperationalError as error:
                if not is_lock_timeout(error) or attempt == _ATTEMPTS:
                    raise
            self.stderr.write(f"A table is busy; next try in {_PAUSE_SECONDS} s.")
            # Django leaves a transaction open if its deferred statements failed.
            connection.close()
            time.sleep(_PAUSE_SECONDS)
            connection.connect()


def _has_lock(cursor: Any) -> bool:
    """Try to take the lock; the statement does not wait, so no time-out applies."""
    cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
    return bool(cursor.fetchone()[0])


@contextmanager
def _short_lock_waits(connection: Any) -> Iterator[None]:
    """Transactions that begin inside wait for a lock for `_LOCK_TIMEOUT` at most.

    The setting ends with each transaction, so it does not stay with a pooler's connection.
    """
    before = dict(connection.local_settings)
    connection.local_settings["lock_timeout"] = _LOCK_TIMEOUT
    try:
        yield
    finally:
        connection.local_settings.clear()
        connection.local_settings.update(before)
