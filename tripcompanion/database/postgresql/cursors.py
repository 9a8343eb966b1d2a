"""The cursors for settings that last for one transaction, as a pooler requires.

psycopg's `ClientCursor`, which Django uses, merges the values into the text, so that one message
may contain several statements. PostgreSQL runs them in one transaction. So `SET LOCAL` and a
statement take one round trip, and this also works outside of a transaction block. A prepared
statement travels with its settings in psycopg's pipeline, which is one transaction too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db.backends.postgresql import base

from tripcompanion.compiled.statements import PreparingCursor


class LocalSettingsCursor(base.Cursor, psycopg.ClientCursor[Any]):
    """Sends the `local_settings` of its `BoundedConnection` when a transaction begins."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        local = _settings_due(self.connection)
        if not local:
            return super().execute(query, params, **options)
        begin = "".join(f"SET LOCAL {name} = '{value}'; " for name, value in local.items())
        super().execute(begin + self.mogrify(query, params), **options)
        for _setting in local:
            self.nextset()
        return self


class LocalSettingsPreparingCursor(PreparingCursor):
    """Does the same for a prepared statement."""

    def send(self, query: Any, values: Sequence[Any]) -> PreparingCursor:
        """As `PreparingCursor` does, after the settings if a transaction begins."""
        local = _settings_due(self.connection)
        if not local:
            return super().send(query, values)
        settings = ", ".join(["set_config(%s, %s, true)"] * len(local))
        pairs = [text for pair in local.items() for text in pair]
        with self.connection.pipeline():
            psycopg.Cursor(self.connection).execute(f"SELECT {settings}", pairs, prepare=True)
            return super().send(query, values)


def _settings_due(connection: Any) -> Mapping[str, str]:
    """The settings to send before the next statement: only at the beginning of a transaction."""
    if not connection.local_settings:
        return {}
    is_idle = connection.info.transaction_status.name == "IDLE"
    begins = is_idle and (connection.bounds_single_statements or not connection.autocommit)
    return connection.local_settings if begins else {}
