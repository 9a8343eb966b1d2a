"""Accounts, and what lets their owners in."""

from users.models.link import Link, LinkInvalid
from users.models.mail import Mail
from users.models.session import Session
from users.models.token import (
    MAX_LIVE_TOKENS,
    MAX_TOKEN_NAME_CHARS,
    ScopedToken,
)
from users.models.user import (
    DELETED_NAME,
    MAX_NAME_CHARS,
    EmailTaken,
    EmailUnverified,
    LastAdmin,
    Role,
    User,
)
from users.passwords import MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS

__all__ = [
    "DELETED_NAME",
    "MAX_LIVE_TOKENS",
    "MAX_NAME_CHARS",
    "MAX_PASSWORD_CHARS",
    "MAX_TOKEN_NAME_CHARS",
    "MIN_PASSWORD_CHARS",
    "EmailTaken",
    "EmailUnverified",
    "LastAdmin",
    "Link",
    "LinkInvalid",
    "Mail",
    "Role",
    "ScopedToken",
    "Session",
    "User",
]
