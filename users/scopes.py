"""The scopes of a token: read or write access to an area of the API."""

from enum import StrEnum
from functools import cache

from tripcompanion.plugin import plugins


class Scope(StrEnum):
    """The scopes that the core asks for. Write scope does not imply read."""

    TRIPS_READ = "trips:read"
    TRIPS_WRITE = "trips:write"
    EXPENSES_READ = "expenses:read"
    EXPENSES_WRITE = "expenses:write"


@cache
def all_scopes() -> tuple[str, ...]:
    """The scopes that tokens may have, in their order: those of the core first."""
    return tuple(scope for app in plugins() for scope in app.scopes)


def choices() -> list[tuple[str, str]]:
    """The scopes as the choices of a field."""
    return [(scope, scope) for scope in all_scopes()]
