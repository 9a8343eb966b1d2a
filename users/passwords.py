"""How long a password may be, wherever it is set."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MAX_PASSWORD_CHARS = 128
MIN_PASSWORD_CHARS = 8


class MaximumLengthValidator:
    """Refuses what nobody could log in with: the log-in reads that many characters and no more."""

    def validate(self, password: str, user: Any = None) -> None:
        if len(password) > MAX_PASSWORD_CHARS:
            raise ValidationError(self.get_help_text(), "password_too_long")

    def get_help_text(self) -> str:
        return _("Your password must contain at most %(max)d characters.") % {
            "max": MAX_PASSWORD_CHARS
        }
