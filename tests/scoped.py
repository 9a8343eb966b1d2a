"""Scoped tokens."""

from trips.models import Trip
from users.models import ScopedToken, User


def script_of(user: User, *scopes: str, trip: Trip | None = None) -> ScopedToken:
    """A scoped token of `user` that was used a moment ago, so that using it writes nothing."""
    made = ScopedToken.issue(user, name="Import", scopes=list(scopes), trip_id=trip and trip.pk)
    made.note_use()
    return made
