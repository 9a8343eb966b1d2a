"""How often one may look up what exists."""

from rest_framework.request import Request

from tripcompanion.kit.throttling import Limit


class LookupLimit(Limit):
    """Look-ups that say what exists: accounts by address, trips by code."""

    scope = "lookup"

    def identity(self, request: Request, view: object) -> str:
        return str(request.user.pk)
