"""Guards of snapshots, timeouts and prepared statements."""

from tests.mutations.mutant import Guards

_SNAPSHOTS = "tests/test_snapshots.py"
_POSTGRESQL = "tests/test_postgresql.py"
_SILENCE = "tests/test_silent_database.py"
_TIMEOUTS = "tests/test_database_timeouts.py"
_FAILOVER = "tests/test_failover.py"
_POOLER = "tests/test_pooler.py"
_SETTINGS = "tests/test_database_settings.py"

DATABASE: Guards = {
    "tripcompanion/api/viewsets.py": [
        ("reads not in one snapshot", "return partial(in_snapshot, handler)", "return handler",
         f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/database/snapshots.py": [
        ("reads not repeated after a table change", "        if not is_outermost:\n",
         "        if True:\n", f"{_SNAPSHOTS} -k read_again"),
        ("snapshot not isolated", "IsolationLevel.REPEATABLE_READ, True", "None, True",
         f"PG {_SNAPSHOTS} -k committed_later"),
        ("reads take the write lock", '"DEFERRED"', '"IMMEDIATE"', f"{_SNAPSHOTS} -k a_get"),
    ],
    "tripcompanion/database/postgresql/base.py": [
        ("reconnects to a silent database",
         "if self.connection is not None or not autocommit:", "if True:",
         f"PG {_SILENCE} -k a_write"),
        ("statements prepared through a pooler",
         "process_id == self.connection.info.backend_pid", "True", f"PG {_POSTGRESQL} -k pooler"),
        ("statements prepared through a pooler that does not support it",
         "            self._require_pooled_statements()\n", "            pass\n",
         f"PG {_POOLER} -k passes_on"),
        ("COMMIT left waiting for a standby",
         "                self.cancel_safe(timeout=_CANCEL_SECONDS)\n", "                pass\n",
         f"PG {_FAILOVER} -k confirms"),
        ("outcome of a lost COMMIT not said to be unknown", "            if self.closed:\n",
         "            if False:\n", f"PG {_SILENCE} -k a_write"),
        ("server-side cursors outside of a pooler's transaction",
         "if not self.in_atomic_block:", "if False:", f"PG {_POOLER} -k chunks"),
        ("no time-outs for a transaction that begins with a cursor",
         'cursor.execute("SELECT 1")', "pass", f"PG {_POOLER} -k waits_are_limited"),
        ("time zone set for a pooler's session", "            self._require_time_zone()\n",
         "            pass\n", f"PG {_POOLER} -k time_zone"),
        ("waits without a default timeout",
         "self.wait_seconds if timeout is None else timeout", "timeout",
         f"PG {_SILENCE} -k no_cursor"),
        ("connection reused after a timeout", "        self.close()\n",
         "        pass\n", f"PG {_SILENCE} -k no_cursor"),
    ],
    "tripcompanion/database/postgresql/cursors.py": [
        ("statement prepared for each integer size", "str(value) if type(value) is int else value",
         "value", f"PG {_POSTGRESQL} -k prepared_once"),
        ("outdated prepared statements kept", 'self.connection.execute("DEALLOCATE ALL")', "pass",
         f"PG {_POSTGRESQL} -k anew"),
        ("no time-outs behind a pooler", "connection.local_settings if begins else {}", "{}",
         f"PG {_POOLER} -k waits_are_limited"),
        ("no time-outs behind a pooler outside of transactions",
         "connection.bounds_single_statements or not connection.autocommit",
         "not connection.autocommit", f"PG {_POOLER} -k waits_are_limited"),
    ],
    "tripcompanion/api/problems.py": [
        ("outcome of a read said to be unknown", "is_unknown and method not in SAFE_METHODS",
         "is_unknown", f"PG {_SILENCE} -k a_read"),
    ],
    "tripcompanion/database/connections.py": [
        ("hosts without a port each", 'if len(ports) not in {1, hosts.count(",") + 1}:',
         "if False:", _SETTINGS),
        ("SQLite transactions start deferred", '            "transaction_mode": "IMMEDIATE",\n', "",
         "tests/security/test_races.py"),
        ("SQLite does not sync commits", "PRAGMA synchronous=FULL;", "PRAGMA synchronous=OFF;",
         "tests/security/test_configuration.py"),
        ("session options sent to a pooler", "if session_options:", "if False:", _SETTINGS),
        ("PGOPTIONS sent to a pooler", 'if os.environ.get("PGOPTIONS"):', "if False:", _SETTINGS),
        ("time zone left to a pooler", 'os.environ["PGTZ"] = "UTC"', "pass",
         f"PG {_POOLER} -k again"),
    ],
    "tripcompanion/compiled/once.py": [
        ("concurrent compilation", "        with _COMPILING:\n", "        if True:\n",
         "tests/compiled/test_once.py"),
    ],
    "tripcompanion/database/management/commands/migrate_safely.py": [
        ("migration lock outlives its transaction", "pg_try_advisory_xact_lock",
         "pg_try_advisory_lock", f"PG {_TIMEOUTS} -k belongs"),
        ("migration waits for a busy table", 'connection.local_settings["lock_timeout"]',
         '_unused: Any', f"PG {_TIMEOUTS} -k shortly"),
        ("migration waits without a timeout", "if time.monotonic() >= deadline:", "if False:",
         f"PG {_TIMEOUTS} -k too_long"),
    ],
    "tripcompanion/api/idempotency.py": [
        ("lock time-out of a key kept for other locks",
         "SELECT set_config('lock_timeout', %s, true)\", [before]", "SELECT %s\", [before]",
         "PG tests/test_idempotency.py -k longer"),
    ],
    "splits/reports/audit.py": [
        ("rows of another trip not audited",
         'pk=OuterRef(name), trip=OuterRef("trip"))', "pk=OuterRef(name))",
         "tests/splits/test_audit.py -k another_trip"),
        ("audit not in one snapshot",
         "    with snapshot():\n        plan_for_all_rows()\n        yield from _diff",
         "    snapshot()\n    plan_for_all_rows()\n    yield from _diff",
         f"{_SNAPSHOTS} -k audit"),
    ],
    "tripcompanion/plugin.py": [
        ("prune reads whole tables", ".order_by(column)", '.order_by("pk")',
         "tests/users/test_prune.py"),
    ],
}  # fmt: skip
