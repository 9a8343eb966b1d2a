"""What `make mutate` does still fits the code: each mutant applies, and names tests that exist."""

import shlex
from collections import Counter

import pytest

from tests.mutations.catalogue import all_mutants
from tests.mutations.mutant import ROOT

pytestmark = pytest.mark.once

MUTANTS = all_mutants()


def test_the_guard_stands_where_the_mutant_takes_it_away():
    gone = [mutant for mutant in MUTANTS if not mutant.applies()]
    assert not gone, "\n".join(f"not exactly once in {m.file}: {m.old}" for m in gone)


def test_every_mutant_has_a_name_of_its_own():
    assert {name for name, times in Counter(m.name for m in MUTANTS).items() if times > 1} == set()


def test_the_tests_that_a_mutant_names_exist():
    named = {test for m in MUTANTS for test in shlex.split(m.tests) if "tests/" in test}
    assert [test for test in named if not (ROOT / test.split("::")[0]).exists()] == []
