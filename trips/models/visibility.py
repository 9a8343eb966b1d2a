"""Who may see what belongs to a trip: fetching a row is asking whether the caller may see it."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Exists, F, Value

from tripcompanion.kit.prepared import Found, Given, Prepared
from trips.roles import TripRole
from users.models import User

Row = TypeVar("Row", bound=models.Model)


class Viewer(Given):
    """The place of a user in a prepared read of what they may see; see `PreparedFor`."""

    def __init__(self, is_admin: bool, is_confined: bool) -> None:
        super().__init__("viewer")
        self.is_admin = is_admin
        self.confined_to = Given("confined_to") if is_confined else None


class PreparedFor:
    """A prepared queryset whose first argument is a user.

    An ADMIN, and whom a scoped token confines to a trip, have statements of their own.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any]]) -> None:
        self._build = build
        self._kinds: dict[tuple[bool, bool], Prepared] = {}

    def __call__(self, user: User, **values: Any) -> Found:
        """The rows for this user; see `Prepared`."""
        kind = (user.is_admin, user.confined_to is not None)
        if kind not in self._kinds:
            self._kinds[kind] = Prepared(partial(self._build, Viewer(*kind)))
        return self._kinds[kind](viewer=user.pk, confined_to=user.confined_to, **values)


class InTripQuerySet(models.QuerySet[Row]):
    """Rows that belong to a trip, and who may see them."""

    #: How to get from a row to the memberships of its trip.
    members_path = "trip__members"

    def of_member(self, user: User | Viewer) -> Self:
        """Rows of the trips that `user` is a member of, with their role as `caller_role`."""
        path = self.members_path
        return (
            self.within(user)
            .filter(**{f"{path}__user": user, f"{path}__left_at": None})
            .annotate(caller_role=F(f"{path}__role"))
        )

    def within(self, user: User | Viewer) -> Self:
        """Rows of the one trip that a scoped token confines `user` to; all without such a token."""
        if user.confined_to is None:
            return self
        trip_path = self.members_path.rpartition("__")[0] or "pk"
        return self.filter(**{trip_path: user.confined_to})

    def visible_to(self, user: User | Viewer) -> Self:
        """Rows that `user` may see, with `caller_role`; an ADMIN sees all, as an OWNER would."""
        if user.is_admin:
            return self.annotate(caller_role=Value(TripRole.OWNER.value))
        return self.of_member(user)


@cache
def _visible(
    rows: Callable[[], InTripQuerySet[Any]], names: tuple[str, ...], *, asks_account: bool = False
) -> PreparedFor:
    lookup = {name: Given(name) for name in names}

    def build(user: User | Viewer) -> InTripQuerySet[Any]:
        found = rows().visible_to(user).filter(**lookup)
        if not asks_account:
            return found
        is_active = Exists(User.objects.active().filter(pk=user))
        return found.annotate(caller_is_active=is_active)

    return PreparedFor(build)


def visible_row(rows: Callable[[], InTripQuerySet[Row]], user: User, **lookup: int) -> Row:
    """The one row of `rows()` that `lookup` names, with `caller_role`; see `visible_to`.

    `rows` is a method of a manager, such as `Trip.objects.all`. Raises `NotFound` for what is not
    there and for what `user` may not see.
    """
    return _visible(rows, tuple(lookup))(user, **lookup).get()


def visible_row_of_active(
    rows: Callable[[], InTripQuerySet[Row]], user: User, **lookup: int
) -> Row:
    """As `visible_row`, with `caller_is_active`: False if the account is deleted or deactivated."""
    return _visible(rows, tuple(lookup), asks_account=True)(user, **lookup).get()
