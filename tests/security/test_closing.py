"""Row T133: no trip grows so many debts that it cannot be closed, opened again or deleted."""

import pytest
from django.db import connection

from benchmarks.closing import main
from tests.compiled_only import compiled_only


@pytest.mark.slow
@compiled_only  # otherwise it takes 2 MB more
def test_t133_a_trip_full_of_debts_is_closed_opened_and_deleted_in_bounded_memory(capsys):
    """T133: A trip of 40,000 debts is closed, opened and deleted in a bounded time.

    Over HTTP, with 36,000 debts of 200 members; a worker takes no more than for 100.
    """
    database = ["--sqlite"] if connection.vendor == "sqlite" else []
    status = main(["--debts", "100,30000", "--turns", "1", *database])
    said = capsys.readouterr().out
    assert status == 0, said
    assert "0 wrong answers." in said
    assert "no difference" in said
