"""Settings of the log of slow statements."""

from tripcompanion import environment as env

SLOW_STATEMENT_MS = env.count("SLOW_STATEMENT_MS", 0, maximum=3_600_000)
