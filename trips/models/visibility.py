"""Who may see the rows of a trip: fetching a row checks that the caller may see it."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import Exists, F, Value
from rest_framework.exceptions import NotFound

from tripcompanion.compiled import CompiledQuery, Param
from trips.roles import CREATOR_ROLE
from users.models import User

Row = TypeVar("Row", bound=models.Model)


class ViewerParam(Param):
    """The parameter of a compiled query that stands for the user; see `CompiledForViewer`."""

    def __init__(self, is_admin: bool, is_confined: bool) -> None:
        super().__init__("user", attribute="pk")
        self.is_admin = is_admin
        self.confined_to = Param("user", attribute="confined_to") if is_confined else None

    @property
    def pk(self) -> Param:
        """The parameter, for queries that filter by a user or by an id."""
        return self


class CompiledForViewer:
    """A compiled query with an argument `user`.

    It has separate statements for an ADMIN and for a token that is confined to a trip.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any]]) -> None:
        self._build = build
        self._kinds: dict[tuple[bool, bool], CompiledQuery] = {}

    def __call__(self, user: User, **values: Any) -> Any:
        """The rows for this user; see `CompiledQuery`."""
        return self._query_for(user)(user=user, **values)

    def get(self, user: User, **values: Any) -> Any:
        """The first row for this user; raises `NotFound` if there is none."""
        row = self._query_for(user).first(user=user, **values)
        if row is None:
            raise NotFound
        return row

    def _query_for(self, user: User) -> CompiledQuery:
        is_admin, confined_to = user.access
        kind = (is_admin, confined_to is not None)
        if kind not in self._kinds:
            self._kinds[kind] = CompiledQuery(partial(self._build, user=ViewerParam(*kind)))
        return self._kinds[kind]


class InTripQuerySet(models.QuerySet[Row]):
    """A queryset of rows of a trip, which can be filtered by who may see them."""

    #: The lookup path from a row to the memberships of its trip.
    members_path = "trip__members"

    def of_member(self, user: User | ViewerParam) -> Self:
        """Rows of the trips that `user` is a member of, with their role as `caller_role`."""
        path = self.members_path
        return (
            self.in_token_scope(user)
            .filter(**{f"{path}__user": user, f"{path}__left_at": None})
            .annotate(caller_role=F(f"{path}__role"))
        )

    def in_token_scope(self, user: User | ViewerParam) -> Self:
        """Rows of the trip to which the token of `user` is confined; all rows if it is not."""
        if user.confined_to is None:
            return self
        trip_path = self.members_path.rpartition("__")[0] or "pk"
        return self.filter(**{trip_path: user.confined_to})

    def visible_to(self, user: User | ViewerParam) -> Self:
        """Rows that `user` may see, with `caller_role`; an ADMIN sees all of them as an OWNER.

        Nobody sees the rows of a deleted trip.
        """
        if user.is_admin:
            return self.in_kept_trips().annotate(caller_role=Value(CREATOR_ROLE.value))
        return self.of_member(user)

    def in_kept_trips(self) -> Self:
        """Rows of trips that are not deleted. Deleted trips have no present members either."""
        trip_path = self.members_path.rpartition("__")[0]
        return self.filter(**{f"{trip_path}__deleted_at" if trip_path else "deleted_at": None})


@cache
def _visible(
    rows: Callable[[], InTripQuerySet[Any]], names: tuple[str, ...], asks_account: bool
) -> CompiledForViewer:
    def build(user: User | ViewerParam, **lookup: Any) -> InTripQuerySet[Any]:
        found = rows().visible_to(user).filter(**lookup)
        if not asks_account:
            return found
        is_active = Exists(User.objects.active().filter(pk=user.pk))
        return found.annotate(caller_is_active=is_active)

    places: dict[str, Any] = {name: Param(name) for name in names}
    return CompiledForViewer(partial(build, **places))


def get_visible_or_404(
    rows: Callable[[], InTripQuerySet[Row]],
    user: User,
    *,
    asks_account: bool = False,
    **lookup: int,
) -> Row:
    """The row of `rows()` that matches `lookup`, with `caller_role`; see `visible_to`.

    `rows` is a method of a manager, such as `Trip.objects.all`. With `asks_account`, the row has
    `caller_is_active`: False if the account of `user` is deleted or deactivated. Raises `NotFound`
    if the row does not exist or `user` may not see it.
    """
    return _visible(rows, tuple(lookup), asks_account).get(user, **lookup)
