"""Keys of tokens for tests: two secrets, and a private key of each algorithm."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from django.conf import settings

from users import tokens
from users.signing_keys import SigningKey

OLD, NEW = "k8Jr2vQ9tYwE4uPz7sXcB3nM6hLf1dGa", "Zq5Wn8Rt2Ky6Vb9Xj3Mc7Pf4Ld1Hs0Ge"
PRIVATE_KEYS = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
PRIVATE = {
    name: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for name, key in PRIVATE_KEYS.items()
}
PUBLIC = {
    name: key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    for name, key in PRIVATE_KEYS.items()
}
CLAIMS = ("AUDIENCE", "ISSUER", "LEEWAY")


def use_keys(monkeypatch: pytest.MonkeyPatch, *texts: str) -> None:
    """Restart the service with these keys; the first one signs."""
    keys = [SigningKey.read(text) for text in texts]
    claims = {name.lower(): settings.SIMPLE_JWT[name] for name in CLAIMS}
    monkeypatch.setattr(tokens, "KEYS", tokens.KeyRing(keys, **claims))
    tokens._claims.cache_clear()
