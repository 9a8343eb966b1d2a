"""Admin pages that combine accounts, trips and the ledger."""

from tripcompanion.accounts.admin.trip import TripAdmin
from tripcompanion.accounts.admin.user import UserAdmin
