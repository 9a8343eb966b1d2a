"""The throttle of lookups."""

from rest_framework.request import Request

from tripcompanion.kit.throttling import WindowThrottle


class LookupThrottle(WindowThrottle):
    """Lookups that reveal what exists: accounts by address and trips by code, per user."""

    scope = "lookup"

    def identity(self, request: Request, view: object) -> str:
        return str(request.user.pk)
