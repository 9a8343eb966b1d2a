"""What can happen in a trip, as its journal names it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import TripObject, plugins
from users.models import User
from users.scopes import Scope


class Event(models.TextChoices):
    """What happened: the type of the object, and what was done to it."""

    TRIP_CREATED = "trip.created", gettext_lazy("trip created")
    TRIP_CHANGED = "trip.changed", gettext_lazy("trip changed")
    TRIP_DELETED = "trip.deleted", gettext_lazy("trip deleted")
    TRIP_RESTORED = "trip.restored", gettext_lazy("trip restored")
    CODE_RENEWED = "trip.code_renewed", gettext_lazy("trip code renewed")
    MEMBER_ADDED = "member.added", gettext_lazy("member added")
    MEMBER_JOINED = "member.joined", gettext_lazy("member joined")
    ROLE_CHANGED = "member.role_changed", gettext_lazy("role changed")
    MEMBER_LEFT = "member.left", gettext_lazy("member left")
    MEMBER_REMOVED = "member.removed", gettext_lazy("member removed")
    GUEST_ADDED = "guest.added", gettext_lazy("guest added")
    GUEST_RENAMED = "guest.renamed", gettext_lazy("guest renamed")
    GUEST_CLAIMED = "guest.claimed", gettext_lazy("guest claimed")
    GUEST_MERGED = "guest.merged", gettext_lazy("guest merged")
    EXPENSE_CREATED = "expense.created", gettext_lazy("expense created")
    EXPENSE_CHANGED = "expense.changed", gettext_lazy("expense changed")
    EXPENSE_DELETED = "expense.deleted", gettext_lazy("expense deleted")
    EXPENSE_RESTORED = "expense.restored", gettext_lazy("expense restored")
    SPLIT_ADDED = "split.added", gettext_lazy("split added")
    SPLIT_DELETED = "split.deleted", gettext_lazy("split deleted")
    SPLIT_PAID = "split.paid", gettext_lazy("split paid")
    SPLIT_UNPAID = "split.unpaid", gettext_lazy("split unpaid")
    SETTLEMENT_CREATED = "settlement.created", gettext_lazy("settlement created")
    SETTLEMENT_DELETED = "settlement.deleted", gettext_lazy("settlement deleted")
    SETTLEMENT_RESTORED = "settlement.restored", gettext_lazy("settlement restored")


def all_events() -> list[tuple[str, Any]]:
    """The events of the core and of plugins, as choices; those of plugins are their own labels."""
    added = [(event, event) for app in plugins() for event in app.events]
    return [*Event.choices, *added]


def object_type_of(event: str) -> str:
    """The type of the object of an event, also of a newer release; a guest is a member, too."""
    kind = event.partition(".")[0]
    return "member" if kind == "guest" else kind


#: The types of objects of all events.
OBJECT_TYPES = sorted({object_type_of(event) for event, _label in all_events()})


@cache
def trip_objects() -> Mapping[str, TripObject]:
    """The types of objects of all apps, by their names in events."""
    return {kind: shape for app in plugins() for kind, shape in app.objects().items()}


def sees(reader: User, kind: str) -> bool:
    """Whether `reader` sees objects of this type; a scoped token may not."""
    known = trip_objects().get(kind)
    return reader.covers(f"{known.area}:read" if known else Scope.EXPENSES_READ)
