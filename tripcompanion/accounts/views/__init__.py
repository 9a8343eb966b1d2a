"""Views that read accounts, trips and the ledger."""

from tripcompanion.accounts.views.tokens import TokenViewSet
from tripcompanion.accounts.views.users import AccountViewSet, UserViewSet
