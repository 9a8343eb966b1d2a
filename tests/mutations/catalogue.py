"""All mutants, in one list."""

from tests.mutations.generated import constraints, role_cells
from tests.mutations.locks import LOCKS
from tests.mutations.mutant import Mutant, mutants_of
from tests.walked import answers


def all_mutants() -> list[Mutant]:
    written = [mutant for some in (LOCKS, *answers("GUARDS")) for mutant in mutants_of(some)]
    return [*role_cells(), *constraints(), *written]
