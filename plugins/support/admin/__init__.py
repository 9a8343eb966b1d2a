"""Pages with which administrators help: they replace the pages of the core, which only show rows.

Only the API changes the ledger, because its rules keep it consistent.
"""

from plugins.support.admin import expense, history, member, rate, session, settlement, trip, user
