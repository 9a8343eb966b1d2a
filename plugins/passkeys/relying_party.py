"""The relying party: the domain that passkeys belong to, and the origins where they are used."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from fido2.cose import ES256, RS256, EdDSA
from fido2.rpid import verify_rp_id
from fido2.server import Fido2Server
from fido2.webauthn import AttestationConveyancePreference, PublicKeyCredentialRpEntity

from plugins.passkeys.settings import is_domain
from tripcompanion.environment import refuse

CHALLENGE_LIFETIME = timedelta(minutes=5)
ALGORITHMS = (ES256, EdDSA, RS256)


def relying_party() -> Any:
    """A `Fido2Server`; None if nothing is set and the front end cannot have passkeys.

    Stops the process, with one line, if what is set cannot work.
    """
    origins = settings.PASSKEY_ORIGINS or [settings.FRONTEND_URL.lower()]
    rp_id = settings.PASSKEY_RP_ID or urlsplit(origins[0]).hostname or ""
    if not is_domain(rp_id) or not all(verify_rp_id(rp_id, each) for each in origins):
        if settings.PASSKEY_RP_ID or settings.PASSKEY_ORIGINS:
            refuse(
                f"PASSKEY_RP_ID must be a domain such as example.com, not {rp_id!r}, and "
                "PASSKEY_ORIGINS or FRONTEND_URL origins on it with HTTPS or on localhost, not "
                f"{', '.join(origins)}."
            )
        return None
    rp = PublicKeyCredentialRpEntity(id=rp_id, name="Trip Companion")
    server: Any = Fido2Server(rp, AttestationConveyancePreference.NONE, origins.__contains__)
    server.allowed_algorithms = [{"type": "public-key", "alg": key.ALGORITHM} for key in ALGORITHMS]
    server.timeout = CHALLENGE_LIFETIME // timedelta(milliseconds=1)
    return server
