"""Throttles of login, registration, token refresh, mail requests and data exports."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from tripcompanion.api.throttling import (
    LimitState,
    UserThrottle,
    WindowThrottle,
    client_at,
    client_of,
    count_against_limit,
    is_exceeded,
    was_counted,
)
from users.emails import email_key
from users.mail_templates import MailTemplate
from users.models import Mail, Session, User

#: The limit of wrong passwords per account, whoever types them.
WRONG_PASSWORD = "wrong_password"  # noqa: S105 -- a name
#: Once it is exceeded: one attempt in these seconds.
SLOW = (1, 15 * 60)
#: How many sessions of an account are searched for one from a known client.
_RECENT_SESSIONS = 50


def account_key(typed: object) -> str:
    """The key by which login attempts are counted, the same as the one for finding accounts.

    Otherwise each spelling of an address, such as a full-width domain, would have a limit of its
    own. Input that is not an address matches no account, and is counted as entered.
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
    """Logins per account and client, and per account after many wrong passwords for it."""

    scope = "login"

    def allow_request(self, request: Request, view: Any) -> bool:
        if not super().allow_request(request, view):
            return False
        slowed = _slowed(request, dict(request.data).get("email"))
        self.state = slowed or self.state
        return not (slowed and slowed.is_over)

    def identity(self, request: Request, view: Any) -> str:
        return self._identity(request, dict(request.data).get("email"))

    def require_under(self, request: Any, email: str) -> None:
        """Count an attempt from outside of the login of the API; raises `Throttled`.

        The limits are checked in order. After one that is exceeded, the others count nothing.
        """
        for state in self._counted(request, email):
            if state and state.is_over:
                raise Throttled(state.seconds_left)

    def _counted(self, request: Any, email: str) -> Iterator[LimitState | None]:
        address = LoginAddressThrottle()
        yield count_against_limit(address.scope, address.identity(request, None), request=request)
        yield count_against_limit(self.scope, self._identity(request, email), request=request)
        yield _slowed(request, email)

    def _identity(self, request: Any, email: object) -> str:
        return f"{client_of(request)}:{account_key(email)}"


def _slowed(request: Any, email: object) -> LimitState | None:
    """Count an attempt on an account that had many wrong passwords; None for others.

    It does not affect clients from which the account has logged in before. Another one has a turn
    if nobody else had it, or if it was refused in the last window: so strangers, whose addresses
    are new, cannot lock the owner out for longer than a window.
    """
    key = account_key(email)
    if not is_exceeded(WRONG_PASSWORD, key) or _is_known(request, key):
        return None
    slow = count_against_limit("login_slow", key, request=request, rate=SLOW)
    if slow is None or not slow.is_over:
        return slow
    client = f"{client_of(request)}:{key}"
    turn = count_against_limit("login_turn", client, request=request, rate=SLOW)
    has_waited = was_counted("login_turn", client, SLOW)
    return turn if turn and has_waited else slow


def _is_known(request: Any, key: str) -> bool:
    """Whether the account has a session, ended or not, from this client."""
    sessions = Session.objects.filter(user__email_key=key).order_by("-used_at")
    recent = sessions.values_list("address", flat=True)[:_RECENT_SESSIONS]
    return client_of(request) in {client_at(address) for address in recent}


def note_wrong_password(request: Any, email: object) -> None:
    """Count a wrong password for an address; tell the owner of its account of too many."""
    state = count_against_limit(WRONG_PASSWORD, account_key(email), request=request)
    if state is not None and state.taken == state.quota:
        for user in User.objects.with_email(str(email)):
            Mail.objects.tell(user, MailTemplate.WRONG_PASSWORDS, user.email or "")


def is_password_of(user: User, password: str, request: Any) -> bool:
    """Whether `password`, entered again by an authenticated user, is their password.

    It counts as a login attempt, so a stolen token cannot bypass the limit. Raises `Throttled`.
    """
    LoginThrottle().require_under(request, user.email or "")
    if user.check_password(password):
        return True
    note_wrong_password(request, user.email)
    return False


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
        counted = []
        for identity in self._identities(request):
            counted.append(count_against_limit(self.scope, identity, request=request))
            if counted[-1] and counted[-1].is_over:
                break
        self.state = max(filter(None, counted), key=lambda state: state.taken, default=None)
        if self.state is None:
            return True
        getattr(view, "limits", []).append(self.state)
        return not self.state.is_over

    def _identities(self, request: Request) -> Iterator[str]:
        if isinstance(request.user, User):
            yield f"account {request.user.email_key}"
            return
        yield f"address {client_of(request)}"
        yield f"account {account_key(dict(request.data).get('email'))}"


def count_account_change(user: User, request: Any) -> None:
    """Count a new address or password of one's own; raises `Throttled`.

    A mail tells of each, perhaps somebody else: nobody has to confirm an address. And the refusal
    of an address that is taken reveals who has an account.
    """
    state = count_against_limit("mail", f"changes {user.pk}", request=request)
    if state and state.is_over:
        raise Throttled(state.seconds_left)


class ExportThrottle(UserThrottle):
    """What reads a whole trip or account, per user."""

    scope = "export"
