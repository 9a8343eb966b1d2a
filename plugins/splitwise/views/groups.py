"""Groups and friends."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from plugins.splitwise.adding import (
    Person,
    accounts_locked,
    friendship,
    require_friendship_quota,
    start_trip,
)
from plugins.splitwise.errors import refused
from plugins.splitwise.models import GROUP_TYPES, Group
from plugins.splitwise.parsing import Fields
from plugins.splitwise.people import Circle
from plugins.splitwise.viewset import SplitwiseViewSet
from tripcompanion.api.problems import LimitReached
from trips.models import Member, Trip, get_visible_or_404, locked_trip
from trips.models.conflicts import BalanceOpen
from trips.roles import Can
from trips.serializers import TripRequest
from users.scopes import Scope

_FAILED: dict[str, Any] = {"success": False}
_NO_GROUP: dict[str, Any] = {
    **dict.fromkeys(("id", "name", "created_at", "updated_at", "whiteboard", "group_type")),
    "simplify_by_default": None,
    "members": [],
    "original_debts": [],
    "simplified_debts": [],
}


class GroupViewSet(SplitwiseViewSet):
    """Groups are trips. Group 0 is what the caller shares with single people."""

    scope_prefix = "trips"
    # Groups and friends are shown with their balances.
    more_scopes = (Scope.EXPENSES_READ,)
    stubs: ClassVar = {
        "create_group": {"group": _NO_GROUP},
        "delete_group": _FAILED,
        "undelete_group": _FAILED,
        "add_user_to_group": {**_FAILED, "user": None},
        "remove_user_from_group": _FAILED,
    }

    def get_groups(self, request: Request) -> Response:
        return Response({"groups": Circle(self.caller, self.trips).groups()})

    def get_group(self, request: Request, group_id: int) -> Response:
        if not group_id:
            kept = Group.objects.friendships(self.caller)
            circle = Circle(self.caller, self.trips.filter(pk__in=kept.values("trip")))
            return Response({"group": circle.outside()})
        return Response({"group": self._group(self.get_visible_trip(group_id))})

    def create_group(self, request: Request) -> Response:
        fields = self.fields
        group_type = fields.text("group_type") or "trip"
        if group_type not in GROUP_TYPES:
            raise refused(_("Choose one of: %s.") % ", ".join(GROUP_TYPES), "group_type")
        simplify = fields.flag("simplify_by_default")
        body = self._described(fields)
        people = [Person(self, row) for row in fields.rows()]
        others = [one for one in people if one.user is None or one.user.pk != self.caller.pk]
        LimitReached.require_at_most(settings.QUOTA_MEMBERS, len(others) + 1)
        body |= {"group_type": group_type, "simplify_by_default": simplify is not False}
        with accounts_locked(self.caller, people):
            trip = start_trip(self.caller, **body)
            for person in others:
                person.add_to(trip)
        return self.done({"group": self._group(trip), "errors": {}}, trip.pk)

    def _described(self, fields: Fields) -> dict[str, Any]:
        name = fields.text("name") or ""
        day = {"startDate": "2000-01-01", "endDate": "2000-01-01"}
        body = {"title": name, "destination": name, **day}
        body["description"] = fields.text("whiteboard") or ""
        currency = self.caller.currency
        body = self.validated(TripRequest, body, currency=currency)
        return {name: body[name] for name in ("title", "description")} | {"currency": currency}

    def delete_group(self, request: Request, group_id: int) -> Response:
        self.get_visible_trip(group_id).remove(by=self.caller)
        return Response({"success": True, "errors": {}})

    def undelete_group(self, request: Request, group_id: int) -> Response:
        trip = get_object_or_404(Trip.objects.restorable_to(self.caller), pk=group_id)
        trip.restore(by=self.caller)
        return self.done({"success": True, "errors": {}}, trip.pk)

    def add_user_to_group(self, request: Request) -> Response:
        trip = self.get_visible_trip(self.fields.required_id("group_id"))
        person = Person(self, self.fields)
        with accounts_locked(self.caller, [person]):
            user = person.add_to(trip)
        shown = self._circle(trip).member(user, {})
        return self.done({"success": True, "user": shown, "errors": {}}, trip.pk)

    def remove_user_from_group(self, request: Request) -> Response:
        trip = self.get_visible_trip(self.fields.required_id("group_id"))
        rows, user_id = Member.objects.with_details, self.fields.required_id("user_id")
        member = get_visible_or_404(rows, self.caller, trip_id=trip.pk, user_id=user_id)
        if user_id == self.caller.pk:
            member.leave(by=self.caller)
            self.after_success = None
        else:
            member.remove(by=self.caller)
        return Response({"success": True, "errors": {}})

    def _group(self, trip: Trip) -> dict[str, Any]:
        return self._circle(trip).group(trip.pk)

    def _circle(self, trip: Trip) -> Circle:
        return Circle(self.caller, Trip.objects.filter(pk=trip.pk))


class FriendViewSet(SplitwiseViewSet):
    """Friends are all with whom the caller shares a trip."""

    scope_prefix = "trips"
    more_scopes = (Scope.EXPENSES_READ,)
    stubs: ClassVar = {
        "create_friend": {"friend": None},
        "create_friends": {"users": []},
        "delete_friend": {**_FAILED, "error": None, "errors": []},
    }

    def get_friends(self, request: Request) -> Response:
        return Response({"friends": Circle(self.caller, self.trips, Circle.EVERYBODY).friends()})

    def get_friend(self, request: Request, user_id: int) -> Response:
        return Response({"friend": self.friends(user_id).friend(user_id)})

    def create_friend(self, request: Request) -> Response:
        spelt = {name.removeprefix("user_"): value for name, value in self.fields.values.items()}
        person = Person(self, Fields({**spelt, "id": None}))
        trip, user = friendship(self.caller, person, self.caller.currency)
        return self.done({"friend": self.friends(user.pk).friend(user.pk), "errors": {}}, trip.pk)

    def create_friends(self, request: Request) -> Response:
        rows = self.fields.rows()
        if not rows:
            raise refused(_("This list may not be empty."), "users")
        people = [Person(self, row) for row in rows]
        with accounts_locked(self.caller, people):
            require_friendship_quota(self.caller, people, self.caller.currency)
            made = [friendship(self.caller, one, self.caller.currency) for one in people]
        circle = self.friends(*(user.pk for _trip, user in made))
        shown = [circle.friend(user.pk) for _trip, user in made]
        return self.done({"users": shown, "errors": {}}, *(trip.pk for trip, _user in made))

    def delete_friend(self, request: Request, user_id: int) -> Response:
        """Leave the trips of the two; those with a guest end."""
        circle = self.friends(user_id)
        if user_id not in circle.people:
            raise NotFound
        ours = [pk for pk in circle.shared[user_id] if circle.is_outside(pk)]
        if len(ours) < len(circle.shared[user_id]):
            raise refused(_("You share a group with this person; leave the group first."))
        with transaction.atomic():
            for trip_id in sorted(ours):
                self._end(trip_id, has_account=not circle.people[user_id].is_guest)
        return Response({"success": True, "error": None, "errors": []})

    def _end(self, trip_id: int, *, has_account: bool) -> None:
        with locked_trip(trip_id, self.caller, Can.LEAVE) as trip:
            own = trip.members.get(user=self.caller)
            if has_account:
                own.leave(by=self.caller)
            elif own.balance_minor:
                raise BalanceOpen.shown_to(self.caller, own.balance_minor, trip.currency)
            else:
                trip.remove(by=self.caller)
