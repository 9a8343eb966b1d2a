"""Settings of invitations."""

from tripcompanion import environment as env

# Whether joining by the code of a trip, or by a link, takes a confirmed e-mail address.
REQUIRE_VERIFIED_EMAIL = env.boolean("REQUIRE_VERIFIED_EMAIL", False)
