"""The scopes of a token: read or write access to an area of the API."""

from enum import StrEnum


class Scope(StrEnum):
    """One scope of a token. Write scope does not imply read."""

    TRIPS_READ = "trips:read"
    TRIPS_WRITE = "trips:write"
    EXPENSES_READ = "expenses:read"
    EXPENSES_WRITE = "expenses:write"


CHOICES = [(scope.value, scope.value) for scope in Scope]
