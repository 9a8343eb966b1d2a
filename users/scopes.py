"""What a scoped token can be good for: an area of the API, to read it or to write it."""

from enum import StrEnum


class Scope(StrEnum):
    """One word of a scoped token. To write does not include to read."""

    TRIPS_READ = "trips:read"
    TRIPS_WRITE = "trips:write"
    EXPENSES_READ = "expenses:read"
    EXPENSES_WRITE = "expenses:write"
