"""Random tokens: whoever presents one has a right, and only a hash of it is stored."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

_RANDOM_BYTES = 32


def new_token(prefix: str = "") -> str:
    """A token of 256 random bits, which may be part of a URL.

    By the prefix, people and secret scanners recognize it, and the logs mask it.
    """
    return prefix + secrets.token_urlsafe(_RANDOM_BYTES)


def digest_of(token: str) -> str:
    """SHA-256 of a token, in 64 hexadecimal digits. It needs no salt: nobody can guess 256 bits."""
    return sha256(token.encode()).hexdigest()


def require_lifetime(expires_at: datetime, longest: timedelta) -> datetime:
    """`expires_at`; raises `ValidationError` if it is in the past, or later than `longest`."""
    now = timezone.now()
    if not now < expires_at <= now + longest:
        text = _("Must be in the future, and at most %(days)s days from now.")
        raise ValidationError({"expiresAt": [text % {"days": longest.days}]})
    return expires_at
