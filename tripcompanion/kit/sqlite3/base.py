"""Django's SQLite, which may stay open between requests: it notices when its file is another.

To open a file and set it up takes longer than most questions that are asked of it. But a process
that keeps one open goes on reading and writing it after somebody has deleted or replaced it, and
nobody ever finds what is written there.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """One connection of one thread."""

    transaction_mode: str | None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        self._opened = self._file()
        return connection

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A transaction that only reads: without the lock of writers, so nobody waits."""
        self.ensure_connection()
        mode, self.transaction_mode = self.transaction_mode, "DEFERRED"
        try:
            with transaction.atomic(using=self.alias):
                self.transaction_mode = mode
                yield
        finally:
            self.transaction_mode = mode

    def close_if_unusable_or_obsolete(self) -> None:
        """Django calls this before and after each request."""
        if self.connection is not None and self._file() != self._opened:
            self.close()
        super().close_if_unusable_or_obsolete()

    def _file(self) -> tuple[int, int] | None:
        """Which file has the name now; None if none has, as for a database in memory."""
        try:
            found = os.stat(self.settings_dict["NAME"])
        except OSError:
            return None
        return found.st_dev, found.st_ino
