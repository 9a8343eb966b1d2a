"""Guards of the statistics of a trip."""

from tests.mutations.mutant import Guards

_STATISTICS = "tests/splits/test_statistics.py"
_KEPT = "tests/splits/test_kept_sums.py"
_MINE = "tests/splits/test_personal_statistics.py"

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
            "(0, shares[viewer_id], 0, 0, 0, 0)",
            "(0, 0, 0, 0, 0, 0)",
            f"{_STATISTICS} -k covers",
        ),
    ],
    "plugins/statistics/kept.py": [
        (
            "expenses of the last day do not count",
            "if row[0] <= until",
            "if row[0] < until",
            _STATISTICS,
        ),
        (
            "groups of another day are shown",
            "if day == until:",
            "if day:",
            f"{_STATISTICS} {_KEPT}",
        ),
        (
            "a trip that has changed stays in my sums as it was",
            "if kept.last == last:",
            "if kept:",
            f"{_MINE} -k at_once",
        ),
        (
            "sums of another history are kept",
            "if journal and journal[0][:2] == kept.last:",
            "if journal and journal[0][0] == kept.last[0]:",
            f"{_KEPT} -k another_time",
        ),
        (
            "an expense stays in the sums of the day on which it was",
            "        days |= {date.fromisoformat(day) for day in moved.values() if day}\n",
            "",
            f"{_KEPT} -k only_its_days",
        ),
        (
            "an expense that was changed stays in the sums as it was",
            'set(stored.values_list("expense_date", flat=True)) if rows else set()',
            "set()",
            f"{_KEPT} -k corrected",
        ),
        (
            "a merge or a claim leaves the sums of the people as they were",
            " or any(row[3] is None for row in rows)",
            "",
            f"{_KEPT} -k after_a_merge",
        ),
        (
            "changes that were not read do not count",
            "len(journal) >= MAX_CHANGES or ",
            "",
            f"{_KEPT} -k many_changes",
        ),
        (
            "a process keeps sums without bound",
            "while self._size > MAX_ROWS:",
            "while False:",
            f"{_KEPT} -k bound",
        ),
    ],
    "plugins/statistics/personal.py": [
        (
            "a trip in which one has nothing is among one's own",
            "if (count or parts) and",
            "if",
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
