"""Accounts, and what lets their owners in."""

from users.models.session import Session, sessions_of
from users.models.user import (
    DELETED_NAME,
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    MIN_PASSWORD_CHARS,
    EmailTaken,
    LastAdmin,
    Role,
    User,
    summary_of,
)

__all__ = [
    "DELETED_NAME",
    "MAX_NAME_CHARS",
    "MAX_PASSWORD_CHARS",
    "MIN_PASSWORD_CHARS",
    "EmailTaken",
    "LastAdmin",
    "Role",
    "Session",
    "User",
    "sessions_of",
    "summary_of",
]
