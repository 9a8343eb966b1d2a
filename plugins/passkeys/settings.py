"""Settings of passkeys."""

from tripcompanion import environment as env

# The domain that passkeys belong to, by default the host of the first origin, and where they are
# used: by default at FRONTEND_URL, and nowhere if that has an IP address or plain HTTP.
PASSKEY_RP_ID = env.text("PASSKEY_RP_ID")
PASSKEY_ORIGINS = env.origins("PASSKEY_ORIGINS", [])
