"""Password hashing within the limits of a small server."""

from threading import Lock
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher

#: A process computes one hash at a time: each takes 19 MiB and a core.
_gate = Lock()


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
