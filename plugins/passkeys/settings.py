"""Settings of passkeys."""

import re

from tripcompanion import environment as env


def is_domain(text: str) -> bool:
    """Whether a passkey can belong to it; browsers take no IP address."""
    return bool(re.fullmatch(r"(?!.*\.[0-9]+$)[a-z0-9-]+(\.[a-z0-9-]+)*", text))


# The domain that passkeys belong to, by default the host of the first origin, and where they are
# used: by default at FRONTEND_URL, and nowhere if that has an IP address or plain HTTP.
PASSKEY_RP_ID = env.text("PASSKEY_RP_ID")
if PASSKEY_RP_ID and not is_domain(PASSKEY_RP_ID):
    env.refuse("PASSKEY_RP_ID must be a domain such as example.com.")
PASSKEY_ORIGINS = env.origins("PASSKEY_ORIGINS", [])
