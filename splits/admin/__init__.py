"""The ledger in the admin site, read-only.

Only the API changes the ledger, because its rules keep it consistent.
"""

from splits.admin import expense, history, rate, settlement
