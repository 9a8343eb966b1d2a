"""The keys of access and refresh tokens: one signs, all verify.

A key is a random text (HS256), or a PEM with an RSA key (RS256), a P-256 key (ES256) or an Ed25519
key (EdDSA). The latter three need the package cryptography.
"""

import base64
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import jwt
from jwt import InvalidKeyError

from tripcompanion import environment as env

_PEM = "-----BEGIN "
_HMAC = "HS256"
_ASYMMETRIC = ("RS256", "ES256", "EdDSA")
_MIN_RSA_BITS = 2048
#: The members of a JWK that its thumbprint covers (RFC 7638 and RFC 8037).
_THUMBPRINT_MEMBERS = ("crv", "e", "kty", "n", "x", "y")


def is_pem(text: str) -> bool:
    return text.startswith(_PEM)


@dataclass(frozen=True)
class SigningKey:
    """A key with its algorithm. `public_jwk` is empty for a secret, which nobody else may know."""

    algorithm: str
    #: As PyJWT uses it: bytes, or a key object of cryptography. Without the right to sign, None.
    signing: Any = field(repr=False)
    verifying: Any = field(repr=False)
    kid: str
    public_jwk: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> "SigningKey":
        """Read a key; raises `ValueError`, which does not repeat it."""
        if is_pem(text):
            # Files that take one line for each variable write line breaks as `\\n`.
            return cls._read_pem(text.replace("\\n", "\n"))
        secret = text.encode()
        # A hash that reveals nothing about a random text; the label separates it from other uses.
        kid = _base64(hmac.digest(secret, b"users.signing_keys.kid", "sha256")[:12])
        return cls(_HMAC, secret, secret, kid)

    @classmethod
    def _read_pem(cls, text: str) -> "SigningKey":
        algorithms = jwt.PyJWS()
        for name in _ASYMMETRIC:
            try:
                algorithm = algorithms.get_algorithm_by_name(name)
            except NotImplementedError as error:
                raise ValueError("A PEM needs the package cryptography.") from error
            try:
                key = algorithm.prepare_key(text)
            except (InvalidKeyError, TypeError, ValueError):
                continue
            if name == "RS256" and key.key_size < _MIN_RSA_BITS:
                raise ValueError(f"An RSA key has at least {_MIN_RSA_BITS} bits.")
            public = key.public_key() if hasattr(key, "public_key") else key
            jwk: dict[str, str] = algorithm.to_jwk(public, as_dict=True)
            jwk = {member: jwk[member] for member in _THUMBPRINT_MEMBERS if member in jwk}
            covered = json.dumps(jwk, separators=(",", ":"), sort_keys=True)
            kid = _base64(sha256(covered.encode()).digest())
            return cls(
                name,
                None if public is key else key,
                public,
                kid,
                jwk | {"alg": name, "kid": kid, "use": "sig"},
            )
        raise ValueError("A PEM has an RSA, P-256 or Ed25519 key, without a password.")


def read_keys(name: str, texts: Iterable[str]) -> list[SigningKey]:
    """The keys in the variable `name`; stops the process if one is weak or cannot be read."""
    keys = []
    for text in texts:
        try:
            keys.append(SigningKey.read(text if is_pem(text) else env.strong(name, text)))
        except ValueError as error:
            env.refuse(f"{name}: {error}")
    return keys


def signing_key(name: str, text: str) -> SigningKey:
    """The key that signs; stops the process if it is weak or public, or cannot be read."""
    [key] = read_keys(name, [text])
    if key.signing is None:
        env.refuse(f"{name} must be a private key, not a public one.")
    return key


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
