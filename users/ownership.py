"""Proof that the owner of an account makes a change by which the account could be stolen."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from users.emails import email_key
from users.models import Session, User
from users.models.conflicts import LogInAgain, WrongPassword
from users.throttles import is_password_of

#: How recent a log-in must be to replace the current password.
JUST_LOGGED_IN = timedelta(minutes=10)


def require_owner(
    user: User,
    request: Any,
    current: str | None,
    *,
    email: str | None = None,
    password: str | None = None,
    log_in_suffices: bool = True,
) -> None:
    """Raise `LogInAgain` or `WrongPassword` unless the owner sets this address and password.

    Proof is the current password, also if it is sent as the new `password`, which then changes
    nothing. For an address, and for a password with `log_in_suffices`, a recent log-in is enough.
    An ADMIN needs no proof for another user. Raises `Throttled` after too many wrong passwords.
    """
    has_new_email = email is not None and email_key(email) != user.email_key
    if request.user.pk != user.pk or not (has_new_email or password):
        return
    if current is not None:
        if not is_password_of(user, current, request):
            raise WrongPassword("currentPassword")
    elif password and not log_in_suffices:
        raise WrongPassword("currentPassword")
    elif not _has_just_logged_in(user, request) and not (
        password and is_password_of(user, password, request)
    ):
        raise LogInAgain


def _has_just_logged_in(user: User, request: Any) -> bool:
    session = request.auth
    at = session.created_at if isinstance(session, Session) else user.last_login
    return at is not None and at > timezone.now() - JUST_LOGGED_IN
