"""Settings of the second factor."""

from tripcompanion import environment as env

# Whether an ADMIN needs an authenticator app to use the admin site and the browsable API. Those who
# have one always need it there.
REQUIRE_SECOND_FACTOR = env.boolean("REQUIRE_SECOND_FACTOR", False)
OTP_TOTP_ISSUER = "Trip Companion"
