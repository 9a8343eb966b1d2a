"""Trips in the admin site, and their ledger, read-only.

Only the API changes the ledger, because its rules keep it consistent.
"""

from splits.admin import expense, history, rate, settlement, trip
