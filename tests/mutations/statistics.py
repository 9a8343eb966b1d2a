"""Guards of the statistics of a trip."""

from tests.mutations.mutant import Guards

_STATISTICS = "tests/splits/test_statistics.py"

STATISTICS: Guards = {
    "tripcompanion/statistics/report.py": [
        (
            "sums of amounts overflow",
            "_UPPER = 2**32",
            "_UPPER = 2**62",
            f"{_STATISTICS} -k beyond",
        ),
        (
            "expenses of the last day do not count",
            "expense_date__lte=day",
            "expense_date__lt=day",
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
            "    shares.update(_uncovered_shares(_uncovered_later.fetch(**later), trip))\n",
            "",
            f"{_STATISTICS} -k covers",
        ),
    ],
    "tripcompanion/statistics/views.py": [
        (
            "statistics without expenses:read",
            "more_scopes = (Scope.EXPENSES_READ,)",
            "more_scopes = ()",
            f"{_STATISTICS} -k script",
        ),
    ],
}
