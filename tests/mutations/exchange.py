"""Mutants of exports, of what is made of them, and of backups."""

from tests.mutations.mutant import Guards

_EXPORTING = "tests/exchange/test_exporting.py -k"
_COPYING = "tests/exchange/test_copying.py -k"
_MOVING = "tests/exchange/test_moving.py -k"
_BACKUPS = "tests/exchange/test_backups.py -k"

EXCHANGE: Guards = {
    "tripcompanion/exchange/tables.py": [
        ("code of a trip in its export", """    if '"tripCode"' not in changes:""", "    if True:",
         f"{_EXPORTING} no_code"),
    ],
    "tripcompanion/exchange/sheet.py": [
        ("export wider than a spreadsheet", "    if len(people) > MAX_PEOPLE:", "    if False:",
         f"{_EXPORTING} more_people"),
    ],
    "tripcompanion/exchange/views/exports.py": [
        ("export without expenses:read", "    more_scopes = (Scope.EXPENSES_READ,)\n", "",
         f"{_EXPORTING} both_scopes"),
    ],
    "tripcompanion/exchange/restoring.py": [
        ("ledger of an imported trip not audited",
         "        for difference in differences(self.trip.pk):", "        for difference in ():",
         f"{_COPYING} contradicts_itself_makes"),
        ("texts of an imported trip not checked",
         'plain = {*plain_fields(table.model), "currency"} & checked.keys()',
         "plain: set[str] = set()", f"{_COPYING} contradicts_itself_makes"),
        ("guests of an imported trip have its roles",
         "member.role = CREATOR_ROLE if is_caller else DEFAULT_ROLE",
         "member.role = CREATOR_ROLE if is_caller else member.role", f"{_COPYING} everybody_else"),
        ("imported trips not counted", "        require_trip_quota(account)\n", "",
         f"{_COPYING} quota"),
    ],
    "tripcompanion/exchange/imported_history.py": [
        ("imported history that cannot be shown", "    if isinstance(value, list | dict):",
         "    if False:", f"{_COPYING} contradicts_itself_makes"),
        ("imported history with gaps", '    if row["number"] != line:', "    if False:",
         f"{_COPYING} contradicts_itself_makes"),
    ],
    "tripcompanion/exchange/service_file.py": [
        ("service overwritten by import_all", "    if User.objects.exists():", "    if False:",
         f"{_MOVING} not_overwritten"),
        ("import_all of an unsound ledger", "transaction.set_rollback(bool(found))", "pass",
         f"{_MOVING} not_sound"),
    ],
    "tripcompanion/exchange/backups.py": [
        ("changed backup restored", "    if not unchanged:", "    if False:",
         f"{_BACKUPS} changed_file"),
        ("backup of a newer release restored", "    if newer:", "    if False:",
         f"{_BACKUPS} newer"),
    ],
}  # fmt: skip
