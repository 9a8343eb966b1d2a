"""The ceremonies of WebAuthn (Level 3, sections 7.1 and 7.2): options, and what answers them.

A challenge is signed, and stored only once it is used: nobody fills a table by asking for options.
"""

import json
import logging
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from django.core import signing
from fido2 import cbor
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import AttestedCredentialData, AuthenticatorData

from plugins.passkeys.relying_party import ALGORITHMS, CHALLENGE_LIFETIME, relying_party
from users.models import User
from users.random_tokens import new_token

logger = logging.getLogger(__name__)

#: What fido2, its parsers and cryptography raise for input that is wrong or hostile.
_WRONG = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError),
    *(RecursionError, struct.error, signing.BadSignature, InvalidSignature, UnsupportedAlgorithm),
)
#: The challenge that was answered, and what the authenticator says.
Proof = tuple[str, AuthenticatorData]


class CredentialRefused(Exception):
    """A credential does not prove what it should."""


def creation_options(user: User, known: Sequence[AttestedCredentialData]) -> dict[str, Any]:
    """What `navigator.credentials.create` needs; `known` are the passkeys of `user`."""
    options, _state = relying_party().register_begin(
        {"id": _handle_of(user), "name": user.email, "displayName": user.name},
        known,
        # A log-in asks for no address, so the authenticator has to know the account.
        resident_key_requirement="required",
        user_verification="required",
        challenge=_signer(user).sign(new_token()).encode(),
    )
    return dict(options.public_key)


def request_options() -> dict[str, Any]:
    """What `navigator.credentials.get` needs: the same for everybody but for the challenge."""
    challenge = _signer(None).sign(new_token()).encode()
    options, _state = relying_party().authenticate_begin(None, "required", challenge)
    return dict(options.public_key)


def created(user: User, credential: Mapping[str, Any]) -> Proof:
    """What the answer to `creation_options` of `user` proves. Raises `CredentialRefused`."""
    with _refusing():
        challenge, state = _challenge_of(credential, user)
        attestation: Any = cbor.decode(websafe_decode(credential["response"]["attestationObject"]))
        # Of a number, fido2 would make so many bytes.
        _require(isinstance(attestation["authData"], bytes), "The authData are no bytes.")
        says = relying_party().register_complete(state, credential)
        passkey: Any = says.credential_data
        _require(type(passkey.public_key) in ALGORITHMS, "The algorithm was not asked for.")
        _require(passkey.credential_id == websafe_decode(credential["rawId"]), "The ids differ.")
        # What is no key raises something else.
        with suppress(InvalidSignature):
            passkey.public_key.verify(b"", b"")
        return challenge, says


def asserted(user: User, passkey: AttestedCredentialData, credential: Mapping[str, Any]) -> Proof:
    """What the answer to `request_options` proves, if `passkey` of `user` gave it.

    Raises `CredentialRefused`.
    """
    with _refusing():
        (challenge, state), response = _challenge_of(credential, None), credential["response"]
        is_own = websafe_decode(response["userHandle"]) == _handle_of(user)
        _require(is_own, "The passkey is of another account.")
        relying_party().authenticate_complete(state, [passkey], credential)
        return challenge, AuthenticatorData(websafe_decode(response["authenticatorData"]))


def _handle_of(user: User) -> bytes:
    """How authenticators name the account."""
    return str(user.pk).encode()


def _signer(user: User | None) -> signing.TimestampSigner:
    """Signs challenges for new passkeys of `user`; None: for log-ins."""
    return signing.TimestampSigner(salt=f"passkeys.{user.pk if user else 'log-in'}")


def _challenge_of(credential: Mapping[str, Any], user: User | None) -> tuple[str, dict[str, str]]:
    """The challenge that a credential answers, which was made for this, also as fido2 takes it.

    Raises one of `_WRONG`.
    """
    data = json.loads(websafe_decode(credential["response"]["clientDataJSON"]))
    _require(isinstance(data["challenge"], str), "The challenge is no text.")
    _require(not data.get("crossOrigin"), "The page was in a frame of another site.")
    challenge = websafe_decode(data["challenge"])
    _signer(user).unsign(challenge.decode(), max_age=CHALLENGE_LIFETIME)
    state = {"challenge": websafe_encode(challenge), "user_verification": "required"}
    return challenge.decode(), state


def _require(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise ValueError(otherwise)


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise `CredentialRefused` for input that is wrong, and log what is wrong with it."""
    try:
        yield
    except _WRONG as error:
        logger.info("A passkey was refused: %s", error)
        raise CredentialRefused from error
