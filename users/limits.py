"""How often one may log in, register and renew tokens."""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request

from tripcompanion.kit.throttling import Limit, spend


class LoginAddressLimit(Limit):
    """Log-ins per address over all accounts: one password tried on many is guessing too."""

    scope = "login_address"


class LoginLimit(Limit):
    """Log-ins per account and address."""

    scope = "login"

    def identity(self, request: Request, view: Any) -> str:
        email = dict(request.data).get("email")
        return self._identity(request, email if isinstance(email, str) else "")

    def is_over_for(self, request: Any, email: str) -> bool:
        """Count an attempt that did not come by the API, in both limits; whether it is one over."""
        address = LoginAddressLimit()
        counted = (
            spend(address.scope, address.identity(request, None)),
            spend(self.scope, self._identity(request, email)),
        )
        return any(spent.is_over for spent in counted if spent)

    def _identity(self, request: Request | HttpRequest, email: str) -> str:
        address = self.get_ident(request)  # type: ignore[arg-type]
        return f"{address}:{email.strip().lower()}"


class RegisterLimit(Limit):
    """Registrations per address."""

    scope = "register"


class RefreshLimit(Limit):
    """Renewals of tokens, and log-outs, per address."""

    scope = "refresh"
