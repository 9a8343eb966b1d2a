"""Guards of the statistics of a trip."""

from tests.mutations.mutant import Guards

_FOLDER = "plugins/statistics/tests"
_STATISTICS = f"{_FOLDER}/test_statistics.py"
_MINE = f"{_FOLDER}/test_personal_statistics.py"

STATISTICS: Guards = {
    "trips/serializers.py": [
        (
            "any text is a category with a budget",
            "for unknown in {*data} - {*Category.values} if",
            "for unknown in set() if",
            "tests/trips/test_category_budgets.py -k refused",
        ),
    ],
    "plugins/statistics/report.py": [
        (
            "sums of amounts overflow",
            "_UPPER = 2**32",
            "_UPPER = 2**62",
            f"{_STATISTICS} -k beyond",
        ),
        (
            "expenses of the last day do not count",
            "expense_date__lte=until, **only",
            "expense_date__lt=until, **only",
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
            "parts.get(viewer.pk, 0)) for",
            "0) for",
            f"{_STATISTICS} -k covers",
        ),
    ],
    "plugins/statistics/personal.py": [
        (
            "a trip in which one has nothing is among one's own",
            "        if count or parts:",
            "        if True:",
            f"{_MINE} -k nothing_is_not",
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
    "plugins/statistics/views.py": [
        (
            "statistics without expenses:read",
            'more_scopes = (Scope.EXPENSES_READ,)\n    needs: ClassVar = {"retrieve": Can.READ}',
            'more_scopes = ()\n    needs: ClassVar = {"retrieve": Can.READ}',
            f"{_STATISTICS} -k script",
        ),
    ],
}
