"""Views of the caller's scoped tokens."""

from typing import Any

from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.idempotency import AlreadyMade
from tripcompanion.api.operations import operation
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.viewsets import ApiViewSet
from trips.models import require_membership
from users.models import ScopedToken
from users.serializers.token import (
    NewScopedTokenSerializer,
    ScopedTokenRequest,
    ScopedTokenSerializer,
)


class TokenViewSet(ApiViewSet):
    """The caller's scoped tokens. Each may be confined to a trip."""

    tag = "tokens"
    # A stored response would contain the token.
    safe_retries = False
    response_serializer = ScopedTokenSerializer

    def own(self) -> Any:
        return self.caller.scoped_tokens.active()

    @operation("listTokens")
    def list(self, request: Request) -> Response:
        """The caller's tokens that have not expired, newest first."""
        return self.page(self.own().order_by("-id"))

    @operation(
        "createToken",
        takes=ScopedTokenRequest,
        answers=NewScopedTokenSerializer,
        shows_secret=True,
        problems=[LimitReached, AlreadyMade],
    )
    def create(self, request: Request) -> Response:
        """Create a token for a script.

        Only this response contains the token itself, and a repeat with the same `Idempotency-Key`
        is 409 `already_made` with the `id` of the token.
        """
        body = self.body()
        require_membership(self.caller, body.get("trip_id"))
        token = ScopedToken.issue(self.caller, **body)
        return self.answer(token, location=f"/api/users/me/tokens/{token.pk}")

    @operation("getToken", single_statement=True)
    def retrieve(self, request: Request, token_id: int) -> Response:
        """The details of a token, without the token itself."""
        return self.answer(get_object_or_404(self.own(), pk=token_id))

    @operation("revokeToken")
    def destroy(self, request: Request, token_id: int) -> Response:
        """Revoke a token at once."""
        ScopedToken.revoke(self.caller, token_id)
        return self.no_content()
