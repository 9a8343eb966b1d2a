"""Passwords: their validators, and hashing within the limits of a small server."""

import gzip
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple

from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MAX_PASSWORD_CHARS = 128
MIN_PASSWORD_CHARS = 8
#: Django's list has twice as many, the most common first. The throttles stop an online attacker
#: long before the end of these, and the rest includes passwords that are recommended to people.
GUESSED_FIRST = 10_000
#: A process computes one hash at a time: each takes 19 MiB and a core.
_gate = Lock()


class GuessedFirstValidator(CommonPasswordValidator):
    """Refuses the most common passwords, which attackers try first."""

    def __init__(self) -> None:
        with gzip.open(self.DEFAULT_PASSWORD_LIST_PATH, "rt", encoding="utf-8") as lines:
            self.passwords = {line.strip() for line in islice(lines, GUESSED_FIRST)}


class MaximumLengthValidator:
    """Refuses passwords that are too long for the login endpoint."""

    def validate(self, password: str, user: Any = None) -> None:
        if len(password) > MAX_PASSWORD_CHARS:
            raise ValidationError(self.get_help_text(), "password_too_long")

    def get_help_text(self) -> str:
        return _("Your password must contain at most %(max)d characters.") % {
            "max": MAX_PASSWORD_CHARS
        }


class SmallServerArgon2(Argon2PasswordHasher):
    """Argon2id at 19 MiB, two passes, one lane: OWASP's minimum, a fifth of Django's memory."""

    memory_cost = 19 * 1024
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _gate:
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _gate:
            return super().verify(password, encoded)

    def harden_runtime(self, password: str, encoded: str) -> Any:
        """Do nothing: all stored hashes have the same cost."""


class HashedPassword(NamedTuple):
    """A password to set, hashed before the account is locked."""

    password: str
    #: The stored hash that the password was compared with.
    compared_with: str
    #: The new hash; empty if the password equals the stored one.
    encoded: str

    @classmethod
    def of_nobody_yet(cls, password: str) -> "HashedPassword":
        """The password of a new account."""
        return cls(password, "", make_password(password))

    def is_new_to(self, stored: str) -> bool:
        """Whether it differs, as far as is known, from the password whose hash is now `stored`."""
        return bool(self.encoded) or stored != self.compared_with

    def encode(self) -> str:
        """The hash to store."""
        return self.encoded or make_password(self.password)
