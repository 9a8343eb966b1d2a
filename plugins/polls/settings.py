"""Settings of polls."""

from tripcompanion import environment as env

THROTTLE_RATES = {"vote": env.rate("THROTTLE_VOTE", "120/hour")}
