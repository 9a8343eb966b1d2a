"""Guards of snapshots, timeouts and prepared statements."""

from tests.mutations.mutant import Guards

_SNAPSHOTS = "tests/test_snapshots.py"
_POSTGRESQL = "tests/test_postgresql.py"
_SILENCE = "tests/test_silent_database.py"
_TIMEOUTS = "tests/test_database_timeouts.py"

DATABASE: Guards = {
    "tripcompanion/kit/viewsets.py": [
        ("reads not in one snapshot", "and self.action not in single:", "and False:",
         f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/kit/snapshots.py": [
        ("reads not repeated after a table change", "        if not is_outermost:\n",
         "        if True:\n", "PG tests/test_changed_tables.py"),
        ("snapshot not isolated", "IsolationLevel.REPEATABLE_READ, True", "None, True",
         f"PG {_SNAPSHOTS} -k committed_later"),
        ("reads take the write lock", '"DEFERRED"', '"IMMEDIATE"', f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/kit/postgresql/base.py": [
        ("reconnects to a silent database",
         "if self.connection is not None or not autocommit:", "if True:",
         f"PG {_SILENCE} -k a_write"),
        ("statements prepared through a pooler",
         "process_id != connection.info.backend_pid", "False", f"PG {_POSTGRESQL} -k pooler"),
        ("waits without a default timeout",
         "self.wait_seconds if timeout is None else timeout", "timeout",
         f"PG {_SILENCE} -k no_cursor"),
        ("connection reused after a timeout", "                self.close()\n",
         "                pass\n", f"PG {_SILENCE} -k no_cursor"),
    ],
    "tripcompanion/compiled/cursors.py": [
        ("statement prepared for each integer size", "str(value) if type(value) is int else value",
         "value", f"PG {_POSTGRESQL} -k prepared_once"),
        ("outdated prepared statements kept", 'self.connection.execute("DEALLOCATE ALL")', "pass",
         f"PG {_POSTGRESQL} -k anew"),
    ],
    "tripcompanion/compiled/once.py": [
        ("concurrent compilation", "        with _COMPILING:\n", "        if True:\n",
         "tests/compiled/test_once.py"),
    ],
    "tripcompanion/kit/management/commands/migrate_safely.py": [
        ("migration lock outlives its transaction", "pg_try_advisory_xact_lock",
         "pg_try_advisory_lock", f"PG {_TIMEOUTS} -k belongs"),
        ("migration waits without a timeout", "if time.monotonic() >= deadline:", "if False:",
         f"PG {_TIMEOUTS} -k too_long"),
    ],
    "splits/reports/audit.py": [
        ("audit not in one snapshot",
         "    with snapshot():\n        yield from _differences(trip_id, watch)\n",
         "    snapshot()\n    yield from _differences(trip_id, watch)\n", f"{_SNAPSHOTS} -k audit"),
    ],
    "users/management/commands/prune.py": [
        ("prune reads whole tables", '.order_by("ended_at")', '.order_by("pk")',
         "tests/users/test_prune.py"),
    ],
}  # fmt: skip
