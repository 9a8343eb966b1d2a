"""Settings of imports."""

from tripcompanion import environment as env

LARGE_BODIES = [r"/api/imports"]
THROTTLE_RATES = {"import": env.rate("THROTTLE_IMPORT", "30/hour")}
