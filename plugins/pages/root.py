"""The root of the API: its version, and links to what the caller may use."""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.conf import settings
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
from tripcompanion.api.viewsets import ApiViewSet
from tripcompanion.plugin import plugins
from users.models import ScopedToken, User
from users.scopes import Scope

Links = Iterator[tuple[str, str]]

_OPEN = {
    "docs": "/api/docs",
    "schema": "/api/schema",
    "health": "/api/health",
    "currencies": "/api/currencies",
    "categories": "/api/categories",
}
_WITHOUT_ACCOUNT = {"register": "/api/users/register", "login": "/api/users/login"}
_ACCOUNT = {
    "me": "/api/users/me",
    "sessions": "/api/users/me/sessions",
    "tokens": "/api/users/me/tokens",
}
_BY_SCOPE = {
    Scope.TRIPS_READ: {"trips": "/api/trips"},
    Scope.EXPENSES_READ: {
        "pendingDebts": "/api/users/{user_id}/pending-debts",
        "totalDebt": "/api/users/{user_id}/total-debt",
    },
}


class LinksSerializer(serializers.BaseSerializer):
    """The version of the service, and addresses by name."""

    json_schema: ClassVar = {
        "type": "object",
        "properties": {"version": {"type": "string"}},
        "required": ["version"],
        "additionalProperties": {"type": "string", "format": "uri"},
        "examples": [
            {
                "version": settings.SPECTACULAR_SETTINGS["VERSION"],
                "docs": "https://api.example.com/api/docs",
                "trips": "https://api.example.com/api/trips",
            }
        ],
    }

    def to_representation(self, instance: dict[str, str]) -> dict[str, str]:
        return instance


class RootViewSet(ApiViewSet):
    """The version, and links to what the caller may use."""

    tag = "reference"
    is_token_optional = True
    permission_classes = (AllowAny,)

    # The request reads nothing but the caller.
    @operation("listLinks", answers=LinksSerializer, without_snapshot=True)
    def links(self, request: Request) -> Response:
        """The version of the service, and links to what the caller may use.

        Without a token, or with one that is no longer valid, these are the links that are open to
        everybody. A scoped token gets those that its scopes allow to read.
        """
        names = dict(_links_for(self.caller, request.auth))
        links = {name: request.build_absolute_uri(path) for name, path in names.items()}
        return self.answer({"version": settings.SPECTACULAR_SETTINGS["VERSION"], **links})


def _links_for(user: Any, auth: Any) -> Links:
    yield from _OPEN.items()
    if not isinstance(user, User):
        yield from _WITHOUT_ACCOUNT.items()
        return
    is_scoped = isinstance(auth, ScopedToken)
    if not is_scoped:
        yield from _ACCOUNT.items()
        for app in plugins():
            yield from app.links.items()
    for scope, links in _BY_SCOPE.items():
        if not is_scoped or scope in auth.scopes:
            yield from ((name, path.format(user_id=user.pk)) for name, path in links.items())
    if user.is_admin:
        yield "admin", "/admin"
