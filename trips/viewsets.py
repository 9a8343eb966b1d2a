"""The base of viewsets for objects of a trip, and its permissions by `trips/roles.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.http import Http404
from django.urls import resolve
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, NotFound, PermissionDenied
from rest_framework.request import Request

from tripcompanion.api.etags import etag_of, require_match
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.serializers import client_id_in
from tripcompanion.api.viewsets import ApiViewSet
from tripcompanion.compiled import serialize
from tripcompanion.database.watching import DATABASE_AWAY
from trips.models import Trip, get_visible_or_404, lock_trip, note_answer, show_addresses_to
from trips.models.client_ids import ClientId, ClientIdTaken
from trips.models.conflicts import NotRestorable
from trips.roles import TABLE, Access, Can, Capability, may
from users.models import User
from users.permissions import IsUser

Row = TypeVar("Row")


class MayInTrip(IsUser):
    """Checks in the table whether the caller's role covers the action.

    An action declares the capability that it needs: `@operation(…, needs=Can.SETTLE)`. None means
    that any USER may do it. An `InTripViewSet` has no routes to other actions.
    """

    def capability(self, view: Any) -> Capability:
        return view.needs[view.action]

    def has_object_permission(self, request: Request, view: Any, obj: Any) -> bool:
        can = self.capability(view)
        return may(obj.caller_role, can, lambda: bool(obj.is_own(request.user, can)))


class IsTripOwner(MayInTrip):
    """Role OWNER of the specification: may do what the table allows owners only."""

    def capability(self, view: Any) -> Capability:
        return Can.MANAGE_MEMBERS


class PeopleViewSet(ApiViewSet):
    """Base of viewsets that show other people, with the addresses that the caller may see."""

    permission_classes: Any = (IsUser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        user: Any = request.user
        show_addresses_to(user if user.is_authenticated else None)

    def note_answer_in(self, *trip_ids: int) -> None:
        """If the request succeeds, note that the caller has read or written in these trips."""
        if self.caller.is_unanswered:
            self.after_success = partial(_note_answers, self.caller, trip_ids)

    def get_visible_trip(self, trip_id: int) -> Any:
        """The trip, if the caller may see it; the view checks what they may do in it."""
        trip = get_visible_or_404(Trip.objects.all, self.caller, pk=trip_id)
        self.note_answer_in(trip_id)
        return trip


class InTripViewSet(PeopleViewSet):
    """Base of viewsets for objects of a trip."""

    permission_classes: Any = (MayInTrip,)
    needs: ClassVar[Mapping[str, Capability | None]] = {}
    #: Actions that write nothing, or end something: the quota of changes holds nobody in a trip.
    uncounted: ClassVar[frozenset[str]] = frozenset()
    #: Whether the other actions write rows of the journal.
    is_counted: ClassVar[bool] = True

    @classmethod
    def as_view(cls, actions: dict[str, Any] | None = None, **initkwargs: Any) -> Any:
        """As DRF does; raises `ImproperlyConfigured` for an action that is not in `needs`."""
        if undeclared := set((actions or {}).values()) - set(cls.needs):
            raise ImproperlyConfigured(f"{cls.__name__}.needs lacks {', '.join(undeclared)}.")
        return super().as_view(actions, **initkwargs)

    def usual_problems(self, method: str) -> Iterator[type[APIException]]:
        can = self.needs[self.action]
        if can and any(access is not Access.ANY for access in TABLE[can].values()):
            yield PermissionDenied
        if self.is_counted and method != "GET" and self.action not in self.uncounted:
            yield LimitReached
        body = self.request_serializers.get(self.action)
        if self.action in self.creates and body and "clientId" in body().fields:
            yield ClientIdTaken

    def who_may(self) -> str:
        can = self.needs[self.action]
        if can is None:
            return ""
        roles: dict[Access, list[str]] = {access: [] for access in Access}
        for role, access in TABLE[can].items():
            roles[access].append(role)
        if len(roles[Access.ANY]) == len(TABLE[can]):
            return "Every member may do this."
        if not roles[Access.ANY]:
            return "Every member may do this to their own."
        own = " and ".join(roles[Access.OWN])
        for_own = f", and to {own} for their own" if own else ""
        return f"Allowed to {' and '.join(roles[Access.ANY])}{for_own}."

    def unchanged(self, trip_id: int, current: Callable[[], Any]) -> AbstractContextManager[None]:
        """Run the block only if `If-Match`, if sent, matches the current representation."""
        shape, context = self.response_shape("retrieve"), self.get_serializer_context
        return self.matching(
            trip_id, lambda: etag_of(serialize(shape, current(), context()), self.apart)
        )

    @contextmanager
    def matching(self, trip_id: int, tag: Callable[[], str]) -> Iterator[None]:
        """Run the block only if `If-Match`, if sent, names the current tag.

        The trip stays locked from the comparison to the end, so of two writers with the same
        `ETag` only one succeeds. Raises `PreconditionFailed` (412).
        """
        if "If-Match" not in self.request.headers:
            yield
            return
        with transaction.atomic():
            lock_trip(trip_id)
            require_match(self.request, tag())
            yield

    def created_once(
        self,
        trip_id: int | None,
        rows: Callable[[], Any],
        create: Callable[[], Row],
        sent: Any = None,
    ) -> Row:
        """What `create` creates, or what the same body with the same `clientId` created before.

        `rows()` are all that are not deleted, with details; `trip_id` is None for trips. `sent` is
        a row of the body. Call it for those only who may create. Raises `ClientIdTaken`.
        """
        body: Any = self.request.data if sent is None else sent
        client_id = client_id_in(body)
        if client_id is None:
            return create()
        # What is null is as if absent.
        rest = {name: body[name] for name in body if body[name] is not None and name != "clientId"}
        named = ClientId.sent_with(client_id, self.caller.pk, self.kwargs, rest)
        with transaction.atomic():
            if trip_id is None:
                named.creator_id = User.objects.active().locked(self.caller.pk).pk
            else:
                named.trip_id = lock_trip(trip_id).pk
            return named.create_once(rows(), create)

    @contextmanager
    def restoring(self, rows: Any, **lookup: Any) -> Iterator[None]:
        """Raise `NotRestorable` in the place of `NotFound` if the row was not deleted at all."""
        try:
            yield
        except (Http404, NotFound):
            self.get_permitted_object(rows, **lookup)
            raise NotRestorable(reason=_("It is not deleted.")) from None

    def get_permitted_object(self, rows: Any, **lookup: Any) -> Any:
        """The row of `rows()` that matches `lookup`, if the caller may do the action on it.

        Raises `NotFound` if the row does not exist, has another parent or is not visible to the
        caller, and `PermissionDenied` if the caller's role does not cover the action.
        """
        user: Any = self.request.user
        found = get_visible_or_404(rows, user, **lookup)
        self.check_object_permissions(self.request, found)
        self.note_answer_in(found.pk if isinstance(found, Trip) else found.trip_id)
        return found

    def get_permitted_trip(self, trip_id: int) -> Any:
        """The trip, for an action on it; raises what `get_permitted_object` does."""
        return self.get_permitted_object(Trip.objects.all, pk=trip_id)

    def require_replayable(self, location: str) -> None:
        """Raise `NotFound` unless the caller can see the trip of a stored response.

        The stored `Location` contains the id of the trip in which something was made; for a copy,
        it is not the trip of the path. Without one, the path contains that or the id of an expense.
        """
        named = {**self.kwargs, **(resolve(location).kwargs if location else {})}
        if "trip_id" in named:
            get_visible_or_404(Trip.objects.all, self.caller, pk=named["trip_id"])
        elif "expense_id" in named:
            get_visible_or_404(Trip.objects.all, self.caller, expenses=named["expense_id"])

    def get_permitted_list(self, found: Iterable[Row], trip_id: int) -> list[Row]:
        """The rows `found` in a trip as a list, if the caller may do the action on them.

        The trip itself is fetched only if there are none. Raises what `get_permitted_object` does.
        """
        rows = list(found)
        if rows:
            self.check_object_permissions(self.request, rows[0])
            self.note_answer_in(trip_id)
        else:
            self.get_permitted_trip(trip_id)
        return rows


def _note_answers(user: User, trip_ids: Iterable[int]) -> None:
    # If the database is away, the next request is the answer.
    with suppress(*DATABASE_AWAY):
        for trip_id in trip_ids:
            note_answer(user, trip_id)
