"""All mutants, in one list."""

from tests.mutations.accounts import ACCOUNTS
from tests.mutations.assistants import ASSISTANTS
from tests.mutations.attachments import ATTACHMENTS
from tests.mutations.changes import CHANGES
from tests.mutations.database import DATABASE
from tests.mutations.deleted import DELETED
from tests.mutations.entry import ENTRY
from tests.mutations.exchange import EXCHANGE
from tests.mutations.finding import FINDING
from tests.mutations.generated import constraints, role_cells
from tests.mutations.journal import JOURNAL
from tests.mutations.ledger import LEDGER
from tests.mutations.manners import KIT
from tests.mutations.monitoring import MONITORING
from tests.mutations.mutant import Mutant, mutants_of
from tests.mutations.notices import NOTICES
from tests.mutations.recurring import RECURRING
from tests.mutations.scopes import SCOPES
from tests.mutations.splitwise import SPLITWISE
from tests.mutations.statistics import STATISTICS
from tests.mutations.tokens import TOKENS
from tests.mutations.trips import TRIPS
from tests.mutations.webhooks import WEBHOOKS


def all_mutants() -> list[Mutant]:
    guards = (
        *(ACCOUNTS, TOKENS, SCOPES, NOTICES, TRIPS, LEDGER, JOURNAL, DELETED, CHANGES, WEBHOOKS),
        *(KIT, ENTRY, DATABASE, MONITORING, EXCHANGE, STATISTICS, ATTACHMENTS),
        *(ASSISTANTS, SPLITWISE, FINDING, RECURRING),
    )
    written = [mutant for some in guards for mutant in mutants_of(some)]
    return [*role_cells(), *constraints(), *written]
