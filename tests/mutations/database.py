"""Guards of how the database is read and waited for."""

from tests.mutations.mutant import Guards

_SNAPSHOTS = "tests/test_snapshots.py"
_POSTGRESQL = "tests/test_postgresql.py"
_SILENCE = "tests/test_silent_database.py"
_TIMEOUTS = "tests/test_database_timeouts.py"

DATABASE: Guards = {
    "tripcompanion/kit/viewsets.py": [
        ("reads of several moments", "and self.action not in self.single_statement:", "and False:",
         f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/kit/snapshots.py": [
        ("reads are not repeated when a table changed", "        if not is_outermost:\n",
         "        if True:\n", "PG tests/test_changed_tables.py"),
    ],
    "tripcompanion/kit/sqlite3/base.py": [
        ("readers take the lock of writers", '"DEFERRED"', '"IMMEDIATE"', f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/kit/postgresql/base.py": [
        ("a snapshot moves on", 'b"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"', 'b"BEGIN"',
         f"PG {_SNAPSHOTS} -k committed_later"),
        ("connects to a silent database again",
         "if self.connection is not None or not autocommit:", "if True:",
         f"PG {_SILENCE} -k a_write"),
    ],
    "tripcompanion/kit/postgresql/connections.py": [
        ("waits without end", "self.wait_seconds if timeout is None else timeout", "timeout",
         f"PG {_SILENCE} -k no_cursor"),
        ("an answer that was not waited for stays", "                self.close()\n",
         "                pass\n", f"PG {_SILENCE} -k no_cursor"),
    ],
    "tripcompanion/kit/postgresql/cursors.py": [
        ("names that stand for any text", "(self._forgotten_times, text)",
         "(self._forgotten_times, b'%d' % len(self))", f"PG {_POSTGRESQL} -k pooled"),
        ("statements that a pooler brought", "        except errors.DuplicatePreparedStatement:\n",
         "        except ZeroDivisionError:\n", f"PG {_POSTGRESQL} -k pooled"),
    ],
    "tripcompanion/kit/compiling.py": [
        ("threads compile at the same time", "        with _COMPILING:\n", "        if True:\n",
         "tests/test_compiling.py"),
    ],
    "tripcompanion/kit/management/commands/migrate.py": [
        ("a lock that outlives its transaction", "pg_try_advisory_xact_lock",
         "pg_try_advisory_lock", f"PG {_TIMEOUTS} -k belongs"),
        ("migrating waits for ever", "if time.monotonic() >= deadline:", "if False:",
         f"PG {_TIMEOUTS} -k too_long"),
    ],
    "splits/models/audit.py": [
        ("an audit of several moments",
         "    with snapshot():\n        yield from _differences(trip_id)\n",
         "    snapshot()\n    yield from _differences(trip_id)\n", f"{_SNAPSHOTS} -k audit"),
    ],
    "users/management/commands/prune.py": [
        ("prune reads whole tables", '.order_by("ended_at")', '.order_by("pk")',
         "tests/users/test_prune.py"),
    ],
}  # fmt: skip
