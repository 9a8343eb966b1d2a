"""Locks, and what is checked again behind them: each is taken away in turn."""

from tests.mutations.mutant import Guards

LOCKS: Guards = {
    "splits/models/expense.py": [
        (
            "expense in an outdated trip currency",
            "            locked.require_currency(trip.currency)\n",
            "",
            "tests/trips/test_behind_the_lock.py -k amounts",
        ),
        (
            "single payer keeps the old amount",
            "user_id: self.entered_minor if minor is None else minor",
            "user_id: 2000 if minor is None else minor",
            "tests/trips/test_behind_the_lock.py -k named_alone",
        ),
        (
            "amounts in an outdated expense currency",
            'if has_amounts and "currency" not in self.fields and not is_same_currency:',
            "if False:",
            "tests/trips/test_behind_the_lock.py -k former_currency",
        ),
        (
            "splitAmounts for another split type",
            "is_same_type = stored.split_type == self.read.split_type",
            "is_same_type = True",
            "tests/trips/test_behind_the_lock.py -k another_split_type",
        ),
    ],
    "splits/models/individual_splits.py": [
        (
            "split removed of whom it was before the lock",
            "{row.pk: row.participant_id for row in",
            "{row.pk: split.participant_id for row in",
            "tests/trips/test_behind_the_lock.py -k by_then",
        )
    ],
    "splits/models/settlement.py": [
        (
            "ownership of settlements not checked under the lock",
            "lambda _trip: self.is_own(by, Can.SETTLE)",
            "lambda _trip: True",
            "tests/trips/test_behind_the_lock.py -k demoted",
        )
    ],
    "splits/models/split.py": [
        (
            "payment answered as the split was before the lock",
            "            return split\n",
            "            return self\n",
            "tests/trips/test_behind_the_lock.py -k by_then",
        )
    ],
    "splits/reports/balances.py": [
        (
            "ownership of plans not checked under the lock",
            "lambda locked: cls(locked).is_own(by, Can.SETTLE)",
            "lambda locked: True",
            "tests/trips/test_behind_the_lock.py -k plan",
        )
    ],
    "splits/views/settlement.py": [
        (
            "ownership of settlements checked only under the lock",
            "        draft.caller_role = trip.caller_role\n"
            "        self.check_object_permissions(request, draft)\n",
            "",
            "tests/trips/test_behind_the_lock.py -k without_waiting",
        ),
        (
            "ownership of plans checked only under the lock",
            "        self.check_object_permissions(request, plan)\n",
            "",
            "tests/trips/test_behind_the_lock.py -k without_waiting",
        ),
    ],
    "tripcompanion/api/idempotency.py": [
        (
            "lock time-out of a key kept for other locks",
            "SELECT set_config('lock_timeout', %s, true)\", [before]",
            'SELECT %s", [before]',
            "PG tests/test_idempotency.py -k longer",
        )
    ],
    "tripcompanion/database/deletes.py": [
        (
            "foreign keys checked only at commit",
            'cursor.execute("DISCARD PLANS; SET CONSTRAINTS ALL IMMEDIATE")',
            "pass",
            "PG tests/splits/test_deleting_a_trip.py",
        )
    ],
    "tripcompanion/database/management/commands/migrate_safely.py": [
        (
            "migration lock outlives its transaction",
            "pg_try_advisory_xact_lock",
            "pg_try_advisory_lock",
            "PG tests/test_database_timeouts.py -k belongs",
        ),
        (
            "migration waits for a busy table",
            'connection.local_settings["lock_timeout"]',
            "_unused: Any",
            "PG tests/test_database_timeouts.py -k shortly",
        ),
    ],
    "tripcompanion/database/snapshots.py": [
        (
            "snapshot not isolated",
            "IsolationLevel.REPEATABLE_READ, True",
            "None, True",
            "PG tests/test_snapshots.py -k committed_later",
        ),
        (
            "reads take the write lock",
            '"DEFERRED"',
            '"IMMEDIATE"',
            "tests/test_snapshots.py -k a_get",
        ),
    ],
    "tripcompanion/mail/sending.py": [
        (
            "mail queued for a deleted account",
            "        with reader.locked(by=None) as account:\n            if not _is_for",
            "        for account in (reader,):\n            if not _is_for",
            "PG tests/users/test_account_lock.py -k emptied",
        )
    ],
    "trips/deletion.py": [
        (
            "account deletion without locks",
            "Trip.objects.select_for_update()",
            "Trip.objects.all()",
            "PG tests/security/test_account_races.py",
        )
    ],
    "trips/models/member.py": [
        (
            "member is found by the row of a guest who was claimed",
            '{"pk": self.pk, "user_id": self.user_id}',
            '{"pk": self.pk}',
            "tests/trips/test_behind_the_lock.py -k found_as_another",
        ),
        (
            "guests are added without the right to",
            "trip(trip.pk, by, Can.ADD_MEMBERS) as locked:\n            _require",
            "trip(trip.pk, by, Can.READ) as locked:\n            _require",
            "tests/trips/test_behind_the_lock.py -k demoted",
        ),
    ],
    "trips/models/trip.py": [
        (
            "members get trips while one is restored",
            'User.objects.lock(then.values_list("user", flat=True))',
            "pass",
            "PG tests/splits/test_restoring_at_once.py -k while_one_is",
        ),
        (
            "commands run in a deleted trip",
            "filter(pk=pk, deleted_at=None)",
            "filter(pk=pk)",
            "tests/trips/test_behind_the_lock.py -k is_deleted_nothing",
        ),
        (
            "former OWNER restores a trip",
            "filter(trip=trip, left_at=trip.deleted_at)",
            "filter(trip=trip)",
            "tests/trips/test_behind_the_lock.py -k removed",
        ),
        (
            "amounts in an outdated currency",
            "            raise CurrencyChanged(meant=meant, currency=self.currency)\n",
            "            pass\n",
            "tests/trips/test_behind_the_lock.py -k amounts",
        ),
        (
            "budget in an outdated currency",
            "        raise CurrencyChanged(meant=budget.currency, currency=currency)\n",
            "        pass\n",
            "tests/trips/test_behind_the_lock.py -k amounts",
        ),
        (
            "trip not locked",
            "Trip.objects.select_for_update().filter(pk=pk,",
            "Trip.objects.filter(pk=pk,",
            "PG tests/security/test_races.py tests/security/test_meeting_commands.py"
            " tests/trips/test_owners_at_once.py",
        ),
        (
            "role not checked under the lock",
            "    if not may(role, can, is_own):\n",
            "    if False:\n",
            "tests/trips/test_behind_the_lock.py -k demoted",
        ),
        (
            "row fetched as an ADMIN under the lock",
            "get_visible_or_404(rows, caller, asks_account=True, **lookup)",
            "get_visible_or_404(rows, User(pk=by.pk, role='ADMIN'), asks_account=True, **lookup)",
            "tests/trips/test_behind_the_lock.py -k removed",
        ),
        (
            "former member runs commands",
            "    if own_role is None or confined_to not in {None, trip.pk}:\n",
            "    if confined_to not in {None, trip.pk}:\n",
            "tests/trips/test_behind_the_lock.py -k removed",
        ),
        (
            "deactivated account runs commands on a trip",
            "        if not member.caller_is_active:\n",
            "        if False:\n",
            "tests/trips/test_behind_the_lock.py -k deactivated",
        ),
        (
            "deactivated account runs commands on a row",
            "        if not row.caller_is_active:\n",
            "        if False:\n",
            "tests/trips/test_behind_the_lock.py -k deactivated",
        ),
        (
            "former ADMIN runs commands",
            "    if not is_admin:\n",
            "    if True:\n",
            "tests/trips/test_behind_the_lock.py -k admin",
        ),
    ],
    "trips/views/user.py": [
        (
            "replacing an account checked only under the lock",
            '"update": IsSelfOrAdmin,',
            '"update": IsUser,',
            "tests/security/test_waiting.py",
        ),
        (
            "changing a profile checked only under the lock",
            '"profile": IsSelfOrAdmin,',
            '"profile": IsUser,',
            "tests/security/test_waiting.py",
        ),
        (
            "deleting an account checked only under the lock",
            '"destroy": IsAdmin,',
            '"destroy": IsSelfOrAdmin,',
            "tests/security/test_waiting.py",
        ),
    ],
    "trips/viewsets.py": [
        (
            "ownership checked only under the lock",
            "bool(obj.is_own(request.user, can))",
            "True",
            "tests/trips/test_behind_the_lock.py -k without_waiting",
        ),
        (
            "actions of roles checked only under the lock",
            "return view.needs[view.action]",
            "return Can.READ",
            "tests/trips/test_behind_the_lock.py -k without_waiting",
        ),
        (
            "role not checked before the lock",
            "        self.check_object_permissions(self.request, found)\n",
            "",
            "tests/trips/test_behind_the_lock.py -k without_waiting",
        ),
        (
            "If-Match compared without the lock",
            "            lock_trip(trip_id)\n            require_match(",
            "            require_match(",
            "PG tests/test_etags.py",
        ),
    ],
    "users/models/user.py": [
        (
            "account changed without its lock",
            '.order_by("pk").select_for_update(no_key=True)',
            '.order_by("pk")',
            "PG tests/security/test_accounts.py",
        ),
        (
            "guests locked as accounts",
            "filter(wanted, is_guest=False)",
            "filter(wanted)",
            "PG tests/trips/test_guests.py",
        ),
        (
            "account saved without being locked",
            "if not self._state.adding and not self._is_locked:",
            "if False:",
            "tests/users/test_account_lock.py",
        ),
    ],
    "users/permissions.py": [
        (
            "ADMIN right checked only under the lock",
            "return may and isinstance(request.user, User) and request.user.is_admin",
            "return may and isinstance(request.user, User)",
            "tests/security/test_waiting.py",
        )
    ],
}
