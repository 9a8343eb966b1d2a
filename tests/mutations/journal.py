"""Mutants of the journal and the history."""

from tests.mutations.mutant import Guards

_WRITING = "tests/trips/test_journal.py"
_WALK = "tests/test_journal.py"
_HISTORY = "tests/splits/test_history.py"

JOURNAL: Guards = {
    "trips/models/journal.py": [
        ("changes of a day not limited",
         "        _require_quota(trip_id, max(number for (number,) in numbers))\n",
         "        pass\n", "tests/trips/test_quotas.py"),
        ("rows of a trip are not counted on", "SELECT COALESCE(MAX(number), 0)",
         "SELECT COALESCE(MIN(number), 0)", _WRITING),
        ("everything is done by the service", "else (by.pk, by.via)",
         "else (by.pk, Via.SERVICE)", _WRITING),
        ("change without a difference is noted",
         " for name, pair in pairs.items() if pair[0] != pair[1]}",
         " for name, pair in pairs.items()}",
         _WRITING),
        ("journal of a restored trip is pruned", "self.filter(~Exists(trips), trip__in",
         "self.filter(trip__in", _WRITING),
    ],
    "users/tokens.py": [
        ("token is noted as a log-in", "token.limits, Via.TOKEN",
         "token.limits, Via.SESSION", _WRITING),
    ],
    "splits/models/split.py": [
        ("payment is not in the journal",
         "write(trip.pk, by, *split._entries(Event.SPLIT_PAID, open_minor, 0), *recorded)",
         "pass", _WALK),
    ],
    "splits/models/posting.py": [
        ("settlement that goes with a split is not in the journal",
         "*changed, *deleted)", "*changed)", _WALK),
    ],
    "trips/deletion.py": [
        ("name of a former guest stays in the journal", '.forget("name")', ".forget()", _WRITING),
        ("row of a file keeps an account", 'row.changes.get("userId", {"old": None})["old"]',
         'row.changes["userId"]["old"]', _WRITING),
    ],
    "splits/reports/history.py": [
        ("token without the scope of expenses sees money",
         "        if shown != events:\n", "        if False:\n",
         _HISTORY),
        ("history of other trips", "JournalEntry.objects.filter(trip=trip.pk, **lookup)",
         "JournalEntry.objects.filter(**lookup)", _HISTORY),
        ("value is taken for a description", 'if description := row.changes.get("description"):',
         'if description := row.changes["description"]:', _HISTORY),
    ],
}  # fmt: skip
