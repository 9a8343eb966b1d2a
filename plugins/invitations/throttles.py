"""The throttles of invitations."""

from typing import Any

from rest_framework.request import Request

from tripcompanion.api.throttling import WindowThrottle
from users.throttles import account_key


class LinkThrottle(WindowThrottle):
    """Lookups of invitations by their token, per IP address, because they need no log-in."""

    scope = "lookup"


class InvitationMailThrottle(WindowThrottle):
    """Invitations to one address, by all senders and from all trips."""

    scope = "mail"

    def allow_request(self, request: Request, view: Any) -> bool:
        return not self._address(request) or super().allow_request(request, view)

    def identity(self, request: Request, view: object) -> str:
        return f"invited {account_key(self._address(request))}"

    def _address(self, request: Request) -> Any:
        return dict(request.data).get("email")
