"""Throttles of login, registration, token refresh, mail requests and data exports."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from tripcompanion.kit.throttling import WindowThrottle, spend
from users.emails import email_key
from users.models import User


def account_key(typed: object) -> str:
    """The key by which login attempts are counted: the one by which accounts are looked up.

    Otherwise each spelling of an address, such as a full-width domain, would have a limit of its
    own. Input that is not an address matches no account, and is counted as typed.
    """
    text = typed.strip() if isinstance(typed, str) else ""
    try:
        return email_key(text)
    except ValidationError:
        return text.lower()


class LoginAddressThrottle(WindowThrottle):
    """Logins per IP address over all accounts, against trying one password on many accounts."""

    scope = "login_address"


class LoginThrottle(WindowThrottle):
    """Logins per account and IP address."""

    scope = "login"

    def identity(self, request: Request, view: Any) -> str:
        return self._identity(request, dict(request.data).get("email"))

    def is_over_for(self, request: Any, email: str) -> bool:
        """Count a login attempt from outside the API; return whether it exceeds a limit."""
        return self.seconds_over_for(request, email) > 0

    def seconds_over_for(self, request: Any, email: str) -> float:
        """Count an attempt in both limits; return the seconds to wait, 0 if it is allowed."""
        address = LoginAddressThrottle()
        counted = (
            spend(address.scope, address.identity(request, None)),
            spend(self.scope, self._identity(request, email)),
        )
        return max((spent.seconds_left for spent in counted if spent and spent.is_over), default=0)

    def _identity(self, request: Request | HttpRequest, email: object) -> str:
        address = self.get_ident(request)  # type: ignore[arg-type]
        return f"{address}:{account_key(email)}"


def is_password_of(user: User, password: str, request: Any) -> bool:
    """Whether `password`, typed again by an authenticated user, is their password.

    It counts as a login attempt, so a stolen token cannot bypass the limit. Raises `Throttled`.
    """
    wait_seconds = LoginThrottle().seconds_over_for(request, user.email or "")
    if wait_seconds:
        raise Throttled(wait_seconds)
    return user.check_password(password)


class RegisterThrottle(WindowThrottle):
    """Registrations per IP address."""

    scope = "register"


class RefreshThrottle(WindowThrottle):
    """Token refreshes and logouts per IP address."""

    scope = "refresh"


class MailThrottle(WindowThrottle):
    """Requested mails per account and, if unauthenticated, also per IP address."""

    scope = "mail"

    def allow_request(self, request: Request, view: Any) -> bool:
        counted = [spend(self.scope, identity) for identity in self._identities(request)]
        self.spent = max(filter(None, counted), key=lambda spent: spent.taken, default=None)
        if self.spent is None:
            return True
        getattr(view, "spent", []).append(self.spent)
        return not self.spent.is_over

    def _identities(self, request: Request) -> list[str]:
        if isinstance(request.user, User):
            return [f"account {request.user.email_key}"]
        key = account_key(dict(request.data).get("email"))
        return [f"address {self.get_ident(request)}", f"account {key}"]


class ExportThrottle(WindowThrottle):
    """Data exports per user."""

    scope = "export"

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)
