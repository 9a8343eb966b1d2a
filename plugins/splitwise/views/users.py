"""The caller, other users, and the lists that are open to all."""

from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import yaml
from babel.numbers import get_currency_symbol
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.invitations.models import Invitation
from plugins.splitwise import objects
from plugins.splitwise.adding import friends_of
from plugins.splitwise.errors import refused
from plugins.splitwise.viewset import SplitwiseViewSet
from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.currency.amounts import CODES
from tripcompanion.currency.fields import CurrencyField
from users.models import Session, User
from users.serializers.account import user_name

_CHANGEABLE = {"first_name", "last_name", "default_currency", "custom_picture"}


class OwnAccount(CamelCaseSerializer):
    """What the caller may change of their account here."""

    name = user_name()
    currency = CurrencyField(required=False)


class UserViewSet(SplitwiseViewSet):
    """The caller, and those who share a trip with them."""

    scope_prefix = "trips"
    stubs: ClassVar = {"update_user": {"user": None}}

    def get_current_user(self, request: Request) -> Response:
        return Response({"user": self._own()})

    def get_user(self, request: Request, user_id: int) -> Response:
        is_admin = self.caller.is_admin
        users = User.objects.present_with_guests() if is_admin else friends_of(self.caller)
        found = get_object_or_404(users, pk=user_id)
        is_invited = Invitation.objects.unused().filter(guest=found.pk).exists()
        return Response({"user": objects.user(found, is_invited=is_invited)})

    def update_user(self, request: Request, user_id: int | None = None) -> Response:
        """Change the name and the currency. Clients send back all that they read."""
        if (user_id or self.fields.id("id") or self.caller.pk) != self.caller.pk:
            raise NotFound
        own, fields = self._own(), self.fields
        fixed = {name: value for name, value in own.items() if isinstance(value, str | int)}
        for name in {*fixed, "password"} - _CHANGEABLE:
            if name in fields and fields.text(name) != str(own.get(name)):
                raise refused(_("This cannot be changed here."), name)
        parts = [
            fields.text(name) if name in fields.values else own[name]
            for name in ("first_name", "last_name")
        ]
        changes = {"name": " ".join(filter(None, parts)).strip()}
        if "default_currency" in fields:
            changes["currency"] = fields.text("default_currency") or ""
        body = self.validated(OwnAccount, changes)
        body = {name: value for name, value in body.items() if getattr(self.caller, name) != value}
        if body and not isinstance(request.auth, Session):
            raise refused(_("A token cannot change the account; log in to do so."))
        if body:
            self.caller.change(by=self.caller, **body)
        return Response({"user": self._own(), "errors": {}})

    def test(self, request: Request) -> Response:
        """Who asks, and what was understood; what is no text as text, however large a number is."""
        sent = {**self.parameters.values, **self.fields.values}
        return Response(
            {
                "client_id": None,
                "token": {"user_id": self.caller.pk},
                "request_url": request.build_absolute_uri(),
                "params": {name: str(value) for name, value in sent.items()},
            }
        )

    def _own(self) -> dict[str, Any]:
        own = User.objects.get(pk=self.caller.pk)
        shown = objects.current_user(own, get_language() or "en")
        return {**shown, "email": own.email}


class ListViewSet(SplitwiseViewSet):
    """What is the same for everybody."""

    authentication_classes: Any = ()
    permission_classes: Any = (AllowAny,)
    without_snapshot = frozenset({"get_currencies", "get_categories", "document"})

    def get_currencies(self, request: Request) -> Response:
        units = ((code, get_currency_symbol(code, get_language() or "en")) for code in CODES)
        shown = [{"currency_code": code, "unit": unit} for code, unit in units]
        return Response({"currencies": shown})

    def get_categories(self, request: Request) -> Response:
        return Response({"categories": objects.categories()})

    def document(self, request: Request) -> Response:
        return Response(openapi_document())


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document of these endpoints, which is written by hand."""
    path = Path(__file__).parents[1] / "openapi.yaml"
    return yaml.safe_load(path.read_text())
