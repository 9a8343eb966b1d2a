"""What `make mutate` does still fits the code: each mutant applies, and names tests that exist."""

from collections import Counter

import pytest

from tests.mutations.catalogue import all_mutants
from tests.mutations.mutant import ROOT, Mutant

pytestmark = pytest.mark.once

MUTANTS = all_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_guard_stands_where_the_mutant_takes_it_away(mutant: Mutant) -> None:
    assert mutant.applies(), f"not exactly once in {mutant.file}: {mutant.old}"


def test_every_mutant_has_a_name_of_its_own() -> None:
    assert {name for name, times in Counter(m.name for m in MUTANTS).items() if times > 1} == set()


def test_the_tests_that_a_mutant_names_exist() -> None:
    named = {test for m in MUTANTS for test in m.tests.split() if "tests/" in test}
    assert [test for test in named if not (ROOT / test.split("::")[0]).exists()] == []
