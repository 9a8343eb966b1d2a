"""All mutants, in one list."""

from tests.mutations.access import TOKENS, TRIPS
from tests.mutations.generated import constraints, role_cells
from tests.mutations.ledger import LEDGER
from tests.mutations.manners import KIT
from tests.mutations.mutant import Mutant, mutants_of


def all_mutants() -> list[Mutant]:
    written = [mutant for guards in (TOKENS, TRIPS, LEDGER, KIT) for mutant in mutants_of(guards)]
    return [*role_cells(), *constraints(), *written]
