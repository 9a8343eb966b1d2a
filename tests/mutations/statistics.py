"""Guards of the statistics of a trip."""

from tests.mutations.mutant import Guards

_STATISTICS = "tests/splits/test_statistics.py"

STATISTICS: Guards = {
    "trips/serializers.py": [
        (
            "any text is a category with a budget",
            "for unknown in {*data} - {*Category.values} if",
            "for unknown in set() if",
            "tests/trips/test_category_budgets.py -k refused",
        ),
    ],
    "tripcompanion/statistics/report.py": [
        (
            "sums of amounts overflow",
            "_UPPER = 2**32",
            "_UPPER = 2**62",
            f"{_STATISTICS} -k beyond",
        ),
        (
            "expenses of the last day do not count",
            "rows = Expense.objects.filter(trip=trip, expense_date__lte=day)",
            "rows = Expense.objects.filter(trip=trip, expense_date__lt=day)",
            _STATISTICS,
        ),
        (
            "later expenses count for people",
            "expense_date__gt=day, **only",
            "expense_date__gt=day, pk=0, **only",
            _STATISTICS,
        ),
        (
            "nobody bears what no split covers",
            "        shares.update(parts)\n",
            "        pass\n",
            f"{_STATISTICS} -k covers",
        ),
        (
            "payers of a group bear nothing that no split covers",
            "groups[key].share_minor += shares.get(viewer.pk, 0)",
            "pass",
            f"{_STATISTICS} -k covers",
        ),
    ],
    "tripcompanion/api/pictures.py": [
        (
            "texts of a picture are not escaped",
            "return escape(",
            "return str(",
            f"{_STATISTICS} -k eyes",
        ),
        (
            "a picture has characters that XML cannot have",
            '_NOT_IN_XML.sub(" ", text)',
            "text",
            f"{_STATISTICS} -k eyes",
        ),
    ],
    "tripcompanion/statistics/views.py": [
        (
            "statistics without expenses:read",
            'more_scopes = (Scope.EXPENSES_READ,)\n    needs: ClassVar = {"retrieve": Can.READ}',
            'more_scopes = ()\n    needs: ClassVar = {"retrieve": Can.READ}',
            f"{_STATISTICS} -k script",
        ),
    ],
}
