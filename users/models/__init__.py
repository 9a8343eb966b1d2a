"""Accounts, their sessions and tokens, and the outbox."""

from users.models.conflicts import EmailTaken, LastAdmin
from users.models.email_token import EmailToken, EmailTokenInvalid
from users.models.notices import NoticeMode, current_language
from users.models.outbox import Mail
from users.models.session import Session, sessions_of
from users.models.summary import named, summaries, summary_of
from users.models.token import MAX_ACTIVE_TOKENS, MAX_TOKEN_NAME_CHARS, ScopedToken
from users.models.user import (
    DELETED_NAME,
    MAX_NAME_CHARS,
    MIN_NAME_CHARS,
    Role,
    User,
    Via,
    address_check,
    user_key,
)
from users.passwords import MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS
