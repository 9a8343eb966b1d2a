"""The throttle of lookups."""

from tripcompanion.api.throttling import UserThrottle


class LookupThrottle(UserThrottle):
    """Lookups that reveal what exists: accounts by address and trips by code, per user."""

    scope = "lookup"
