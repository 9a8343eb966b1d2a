"""How often one may log in, register, renew tokens, and ask for mails and for one's data."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from tripcompanion.kit.throttling import Limit, spend
from users.emails import email_key
from users.models import User


def account_key(typed: object) -> str:
    """What attempts at an account are counted by: the same key by which accounts are found.

    Otherwise every other spelling of an address, such as a full-width domain, would be one more
    limit. What is no address finds no account, and is counted as it was typed.
    """
    text = typed.strip() if isinstance(typed, str) else ""
    try:
        return email_key(text)
    except ValidationError:
        return text.lower()


class LoginAddressLimit(Limit):
    """Log-ins per address over all accounts: one password tried on many is guessing too."""

    scope = "login_address"


class LoginLimit(Limit):
    """Log-ins per account and address."""

    scope = "login"

    def identity(self, request: Request, view: Any) -> str:
        return self._identity(request, dict(request.data).get("email"))

    def is_over_for(self, request: Any, email: str) -> bool:
        """Count an attempt that did not come by the API, in both limits; whether it is one over."""
        return self.seconds_over_for(request, email) > 0

    def seconds_over_for(self, request: Any, email: str) -> float:
        """The same; the seconds until another attempt may be made, 0 if this one may."""
        address = LoginAddressLimit()
        counted = (
            spend(address.scope, address.identity(request, None)),
            spend(self.scope, self._identity(request, email)),
        )
        return max((spent.seconds_left for spent in counted if spent and spent.is_over), default=0)

    def _identity(self, request: Request | HttpRequest, email: object) -> str:
        address = self.get_ident(request)  # type: ignore[arg-type]
        return f"{address}:{account_key(email)}"


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


class ExportLimit(Limit):
    """Copies of one's data, per user."""

    scope = "export"

    def identity(self, request: Request, view: Any) -> str:
        return str(request.user.pk)
