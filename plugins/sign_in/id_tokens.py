"""Checks identity tokens (OpenID Connect Core 1.0, 3.1.3.7)."""

import secrets
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jwt
from django.core import signing
from django.core.exceptions import ValidationError

from plugins.sign_in.keys import keys_of
from plugins.sign_in.providers import Provider
from users.emails import email_key
from users.models import MAX_NAME_CHARS, MIN_NAME_CHARS

#: Only a private key can sign with these, so no public key is taken for a secret.
ALGORITHMS = {
    "EdDSA",
    *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)),
}
#: How long a nonce lasts: as long as somebody may take at the provider.
NONCE_SECONDS = 600
#: How far the clocks of a provider and of this service may be apart.
LEEWAY_SECONDS = 30
MAX_SUBJECT_CHARS = 255
_REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]
_SIGNER = signing.TimestampSigner(salt="plugins.sign_in.nonce")
#: What reading a token that somebody made up may raise.
_FORGED = (jwt.PyJWTError, ValueError, TypeError, LookupError, RecursionError, OverflowError)


class TokenRefused(Exception):
    """The token is not one of the provider, for this service, and for now."""


class IdToken(NamedTuple):
    """What a token says; all was checked but whether its nonce was used."""

    provider: Provider
    subject: str
    nonce: str
    #: Empty unless the provider has verified it.
    email: str
    #: Empty unless an account can have it.
    name: str


def new_nonce() -> str:
    """A nonce, which says itself when it was made: it is stored once it is used."""
    return _SIGNER.sign(secrets.token_urlsafe(16))


def read_id_token(provider: Provider, raw: str) -> IdToken:
    """Check a token; raises `TokenRefused` and `ProviderUnavailable`.

    Call it outside of transactions: it may wait for the provider.
    """
    try:
        claims = _verified(provider, raw)
        audience, subject = claims["aud"], claims["sub"]
        has_others = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if has_others else provider.client_id) != provider.client_id:
            raise TokenRefused("azp")
        if not (0 < len(subject) <= MAX_SUBJECT_CHARS and subject.isprintable()):
            raise TokenRefused("sub")
        if int(claims["iat"]) < time.time() - NONCE_SECONDS - LEEWAY_SECONDS:
            raise TokenRefused("iat")
        _SIGNER.unsign(claims["nonce"], max_age=NONCE_SECONDS)
    except (signing.BadSignature, AttributeError, *_FORGED) as error:
        raise TokenRefused(str(error)) from error
    return IdToken(provider, subject, claims["nonce"], _verified_email(claims), _name(claims))


def _verified(provider: Provider, raw: str) -> Mapping[str, Any]:
    """The claims of a token that the provider has signed for this service."""
    header = jwt.get_unverified_header(raw)
    algorithm = header["alg"]
    # An access token may be a JWT, too (RFC 9068), with another type.
    if algorithm not in ALGORITHMS or str(header.get("typ", "JWT")).upper() != "JWT":
        raise TokenRefused("header")
    reason: Exception = TokenRefused("kid")
    for key in keys_of(provider).find(header.get("kid")):
        try:
            if key.get("alg", algorithm) != algorithm:
                raise TokenRefused("alg")
            return jwt.decode(
                raw,
                jwt.PyJWK(key, algorithm),
                algorithms=[algorithm],
                audience=provider.client_id,
                issuer=provider.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": _REQUIRED, "enforce_minimum_key_length": True},
            )
        except (TokenRefused, *_FORGED) as error:
            reason = error
    raise TokenRefused(str(reason)) from reason


def _verified_email(claims: Mapping[str, Any]) -> str:
    """The address, if the provider says that it belongs to the user; or empty."""
    email, is_verified = claims.get("email"), claims.get("email_verified")
    # Some send it as a text.
    if not isinstance(email, str) or not (is_verified is True or is_verified == "true"):
        return ""
    try:
        return email if email_key(email) else ""
    except ValidationError:
        return ""


def _name(claims: Mapping[str, Any]) -> str:
    claim = claims.get("name")
    name = claim.strip()[:MAX_NAME_CHARS] if isinstance(claim, str) else ""
    return name if name.isprintable() and len(name) >= MIN_NAME_CHARS else ""
