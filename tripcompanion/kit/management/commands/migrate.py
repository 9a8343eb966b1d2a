"""Django's command, which neither holds a serving process up nor races with itself."""

import time
from typing import Any

from django.core.management.commands import migrate
from django.db import OperationalError, connections

#: The number of the advisory lock that whoever migrates a database holds.
_LOCK = 7_219_004
#: While a migration waits for a table, everybody else waits behind it; so it does not wait long.
_LOCK_TIMEOUT = "1s"
_ATTEMPTS = 30
_PAUSE_SECONDS = 1
_LOCK_NOT_AVAILABLE = "55P03"


class Command(migrate.Command):
    """On PostgreSQL one process migrates while others wait, and a busy table is tried again."""

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        # Its own connection keeps the lock, whatever becomes of the one that migrates.
        gate = connection.copy()
        with gate.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
            try:
                self._migrate_patiently(connection, args, options)
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])
        gate.close()

    def _migrate_patiently(self, connection: Any, args: Any, options: dict[str, Any]) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            _set_lock_timeout(connection, f"'{_LOCK_TIMEOUT}'")
            try:
                # Whatever was migrated before the table that was busy is not done again.
                super().handle(*args, **options)
                break
            except OperationalError as error:
                is_busy = getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE
                if not is_busy or attempt == _ATTEMPTS:
                    raise
            self.stderr.write(f"A table is busy; next try in {_PAUSE_SECONDS} s.")
            # Django leaves a transaction open whose deferred statements failed.
            connection.close()
            time.sleep(_PAUSE_SECONDS)
            connection.connect()
        _set_lock_timeout(connection, "DEFAULT")


def _set_lock_timeout(connection: Any, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout TO {value}")
