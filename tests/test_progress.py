"""Long commands say in a log, every few seconds, how far they have come."""

import time
from io import StringIO

import pytest

from tripcompanion.observability import progress
from tripcompanion.observability.progress import Progress


class Screen(StringIO):
    def isatty(self):
        return True


def wait_for(text, log):
    until = time.monotonic() + 10
    while text not in log.getvalue():
        assert time.monotonic() < until, log.getvalue()
        time.sleep(0.001)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.001)


@pytest.mark.usefixtures("impatient")
def test_a_log_says_what_is_done_and_how_many_rows_have_passed():
    log = StringIO()
    with Progress("Reading", log) as watch:
        wait_for("Reading (0 s)\n", log)
        for row in watch(iter([1, 2]), desc="Expense", total=2):
            wait_for(f"Reading, Expense rows: {row} of 2 (0 s)\n", log)
    shown = log.getvalue()
    time.sleep(0.01)
    assert log.getvalue() == shown


@pytest.mark.usefixtures("impatient")
def test_a_terminal_shows_a_bar_instead_of_lines(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with Progress("Reading", screen) as watch:
        rows = watch([1, 2], total=2)
        next(rows)
        shown = screen.getvalue()
        time.sleep(0.01)
        assert screen.getvalue() == shown
    assert "0/2 [" in shown


def test_a_quick_command_says_nothing():
    log = StringIO()
    with Progress("Reading", log) as watch:
        assert [*watch([1, 2])] == [1, 2]
    assert log.getvalue() == ""
