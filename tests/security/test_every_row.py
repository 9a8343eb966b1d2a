"""Nothing is forgotten: every row has its test, and what documents name exists."""

import re
from collections import Counter
from functools import cache

import pytest
from django.core.management import get_commands

from tests.document import ROOT, usual_plugins
from tests.security.rows import docstrings, rows

pytestmark = pytest.mark.once

TEXT = (ROOT / "SECURITY.md").read_text()
#: Rows up to this one are the core's own. Those beyond may go with what they are about.
LAST_OF_THE_CORE = 128


@cache
def known():
    """The numbers of all rows; to find them takes seconds."""
    return Counter(row.number for row in rows())


def numbers(text):
    """The rows that a text names, such as `T03, T82-T84`."""
    named = re.findall(r"\bT(\d{2,3})\b(?:-T(\d+))?", text)
    return {n for first, last in named for n in range(int(first), int(last or first) + 1)}


@usual_plugins
def test_a_row_stands_once_and_none_is_missing():
    assert {row for row, times in known().items() if times > 1} == set()
    assert set(known()) >= set(range(1, LAST_OF_THE_CORE + 1))


@usual_plugins
def test_a_test_with_the_number_of_a_row_is_about_a_row():
    named = {
        int(found[1])
        for _file, name, _doc in docstrings()
        if (found := re.match(r"test_t(\d+)_", name))
    }
    assert named <= set(known())


@usual_plugins
def test_the_rows_that_a_document_names_exist():
    for path in ROOT.glob("*.md"):
        assert numbers(path.read_text()) <= set(known()), path.name


def test_what_the_promises_refer_to_exists():
    named = set(re.findall(r"`((?:plugins/\w+/)?tests/[\w/.]+|make \w+|manage\.py \w+)`", TEXT))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    commands = get_commands()
    for name in named:
        program, _blank, word = name.partition(" ")
        found = {"make": word in targets, "manage.py": word in commands}
        assert found.get(program, (ROOT / program).exists()), name
