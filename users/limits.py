"""How often one may log in, register, renew tokens, and ask for mails and for one's data."""

from typing import Any

from django.http import HttpRequest
from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from tripcompanion.kit.throttling import Limit, seconds_over
from users.models import User


class LoginLimit(Limit):
    """Log-ins per account and address."""

    scope = "login"

    def identity(self, request: Request, view: Any) -> str:
        email = dict(request.data).get("email")
        return self._identity(request, email if isinstance(email, str) else "")

    def seconds_over_for(self, request: Any, email: str) -> float:
        """Count an attempt that did not come by the API; see `seconds_over`."""
        return seconds_over(self.scope, self._identity(request, email))

    def _identity(self, request: Request | HttpRequest, email: str) -> str:
        address = self.get_ident(request)  # type: ignore[arg-type]
        return f"{address}:{email.strip().lower()}"


def is_password_of(user: User, password: str, request: Any) -> bool:
    """Whether `password` is theirs, which somebody who is logged in as them has typed again.

    It counts as a log-in, so that a borrowed token is no way around the limit. Raises `Throttled`.
    """
    wait_seconds = LoginLimit().seconds_over_for(request, user.email or "")
    if wait_seconds:
        raise Throttled(wait_seconds)
    return user.check_password(password)


class RegisterLimit(Limit):
    """Registrations per address."""

    scope = "register"


class RefreshLimit(Limit):
    """Renewals of tokens, and log-outs, per address."""

    scope = "refresh"


class MailLimit(Limit):
    """Mails that somebody asks for: per account and, without a log-in, also per address."""

    scope = "mail"

    def allow_request(self, request: Request, view: Any) -> bool:
        waits = [seconds_over(self.scope, identity) for identity in self._identities(request)]
        self._wait_seconds = max(waits)
        return not self._wait_seconds

    def _identities(self, request: Request) -> list[str]:
        if isinstance(request.user, User):
            return [f"account {request.user.email_key}"]
        email = dict(request.data).get("email")
        typed = email.strip().lower() if isinstance(email, str) else ""
        return [f"address {self.get_ident(request)}", f"account {typed}"]


class ExportLimit(Limit):
    """Copies of one's data, per user."""

    scope = "export"

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)
