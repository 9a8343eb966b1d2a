"""Verifies tokens with several keys; takes the place of SimpleJWT's backend, which has one."""

from collections.abc import Sequence
from typing import Any

import jwt
from jwt import InvalidTokenError
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import TokenBackendError, TokenBackendExpiredToken

from users.signing_keys import SigningKey


class _KeyBackend(TokenBackend):
    """SimpleJWT's backend for one key, which it names in the header as `kid`."""

    def __init__(self, key: SigningKey, **claims: Any) -> None:
        super().__init__(key.algorithm, **claims)
        self.key = key

    def get_verifying_key(self, token: Any) -> Any:
        return self.key.verifying

    def encode(self, payload: dict[str, Any]) -> str:
        return jwt.encode(
            {**payload, "aud": self.audience, "iss": self.issuer},
            self.key.signing,
            self.key.algorithm,
            headers={"kid": self.key.kid},
        )


class KeyRing(_KeyBackend):
    """Signs with the first key and verifies with each.

    A key verifies only tokens of its own algorithm, so a public key is never taken for a secret.
    """

    def __init__(self, keys: Sequence[SigningKey], **claims: Any) -> None:
        super().__init__(keys[0], **claims)
        self._backends = [_KeyBackend(key, **claims) for key in keys]

    @property
    def public_jwks(self) -> list[dict[str, str]]:
        """The public keys as JWKs (RFC 7517), each once; a secret has none."""
        keys = {one.key.kid: one.key.public_jwk for one in self._backends if one.key.public_jwk}
        return [dict(jwk) for jwk in keys.values()]

    def decode(self, token: Any, verify: bool = True) -> dict[str, Any]:
        """The claims of a token; raises `TokenBackendError`.

        Its `kid` only decides which key is tried first: older tokens have none.
        """
        try:
            header = jwt.get_unverified_header(token)
        except InvalidTokenError as error:
            raise TokenBackendError("Token is invalid") from error
        for backend in sorted(self._backends, key=lambda one: one.key.kid != header.get("kid")):
            try:
                return dict(backend.decode(token, verify))
            except TokenBackendExpiredToken:
                raise
            except TokenBackendError:
                continue
        raise TokenBackendError("No key verifies this token")
