"""Guards of tags, of filters, and of expenses that are changed, copied and moved together."""

from tests.mutations.mutant import Guards

_TAGS = "tests/splits/test_tags.py -k"
_MANY = "tests/splits/test_many_expenses.py -k"
_SAVED = "plugins/saved_filters/tests/test_saved_filters.py -k"

FINDING: Guards = {
    "splits/models/tag.py": [
        ("tags differ by case", "return tag.casefold()", "return tag", f"{_TAGS} any_spelling"),
        ("tags keep their spaces", '(" ".join(tag.split()) for tag in tags)', "tags",
         f"{_TAGS} trimmed"),
        ("a tag is kept twice", "return list(found.values())", "return list(tags)",
         f"{_TAGS} trimmed"),
        ("everybody renames tags of others", "Can.CHANGE_EXPENSES, are_own) as locked",
         "Can.READ, are_own) as locked", f"{_TAGS} behind"),
        ("a tag that there is not is renamed",
         "        if not rows:\n            raise NotFound\n", "", f"{_TAGS} behind"),
    ],
    "splits/views/expense.py": [
        ("errors of rows are forgotten", "            if errors:\n                raise",
         "            if False:\n                raise", f"{_MANY} one_wrong_row"),
        ("rows of other trips are changed", "trip_id=trip.pk, pk=expense_id)", "pk=expense_id)",
         f"{_MANY} another_trip"),
        ("an expense is copied into its own trip", "if other_id == trip_id:", "if False:",
         f"{_MANY} cannot_go"),
    ],
    "splits/serializers/tag.py": [
        ("any number of rows at once", "if sum(map(len, rows.values())) > MAX_ROWS:", "if False:",
         f"{_MANY} in_all"),
    ],
    "splits/models/copying.py": [
        ("expenses change their currency", "if target.currency != stored.trip.currency:",
         "if False:", f"{_MANY} cannot_go"),
        ("expenses go where one only reads", "trip_id: Can.RECORD}", "trip_id: Can.READ}",
         f"{_MANY} cannot_go"),
        ("what was paid for is moved", "if debts.exclude(open_minor=F(\"amount_minor\")).exists():",
         "if False:", f"{_MANY} was_paid"),
        ("a moved expense stays", "        stored.remove(by)\n", "", f"{_MANY} moved"),
        ("comments do not move along", "_record(stored, target, by, texts, is_moved=True)",
         "_record(stored, target, by, is_moved=True)", f"{_MANY} moved"),
        ("a division by hand is copied", "        if not stored.is_division:\n"
         "            raise DividedByHand\n", "", f"{_MANY} by_hand"),
    ],
    "plugins/saved_filters/models.py": [
        ("a merge overwrites a changed filter", "filter(pk=row.pk, query=row.query)",
         "filter(pk=row.pk)", f"{_SAVED} during_a_merge"),
        ("any number of saved filters", "if owner.saved_filters.count() >= MAX_FILTERS:",
         "if False:", f"{_SAVED} at_most"),
    ],
    "plugins/saved_filters/serializers.py": [
        ("what the list ignores is saved", "refused_names(sent, sorted(known))", "{}",
         f"{_SAVED} not_saved"),
        ("what the list refuses is saved",
         "errors = errors or ExpenseFilter(sent, Expense.objects.none()).errors", "pass",
         f"{_SAVED} not_saved"),
    ],
    "plugins/saved_filters/filters.py": [
        ("saved parameters are not replaced", "if _SAME.get(name, name) not in replaced:",
         "if True:", f"{_SAVED} replace"),
    ],
}  # fmt: skip
