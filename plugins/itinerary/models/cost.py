"""The expenses that belong to activities."""

from collections import Counter, defaultdict, namedtuple
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, OuterRef, Prefetch, Q, Subquery
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from plugins.itinerary.models.activity import Activity, ActivityQuerySet, day_index
from splits.models import Expense
from tripcompanion.compiled import ArrayParam, CompiledQuery, Param
from trips.models import InTripQuerySet, Trip, ViewerParam, trip_key
from users.models import User, summary_of
from users.scopes import Scope


class ActivityExpenseQuerySet(InTripQuerySet["ActivityExpense"]):
    def recorded(self) -> "ActivityExpenseQuerySet":
        """Those whose expense is not deleted, with its amount in the trip's currency."""
        rows: Any = self.filter(expense__trip=F("trip")).order_by("expense_id")
        return rows.annotate(amount_minor=F("expense__amount_minor"))


class ActivityExpense(models.Model):
    """An expense that belongs to an activity.

    It stays when either of the two is deleted, so that it is there when they are restored.
    """

    trip = trip_key("activity_expenses")
    activity = models.ForeignKey(Activity, on_delete=models.CASCADE, related_name="links")
    expense = models.ForeignKey(
        Expense, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )

    objects = ActivityExpenseQuerySet.as_manager()

    #: In minor units of the trip's currency; `recorded` sets it.
    amount_minor: int

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["expense"], name="expense_of_one_activity")
        ]

    def __str__(self) -> str:
        return f"#{self.expense_id}"


def activity_of(expense: str) -> Subquery:
    """The activity to which an expense belongs; see `ExpenseField.stored`."""
    same = {"trip": OuterRef("trip"), "expense": OuterRef(expense)}
    return Subquery(
        ActivityExpense.objects.filter(activity__deleted_at=None, **same).values("activity")
    )


def require_activity(trip: Trip, activity_id: int | None) -> None:
    """Raise `ValidationError` unless the trip has the activity; see `ExpenseField.check`."""
    if activity_id is not None and not trip.activities.kept().filter(pk=activity_id).exists():
        text = _("There is no such activity in the trip.")
        raise ValidationError({"activityId": [text]})


def link(expense: Expense, activity_id: int | None) -> None:
    """Let an expense belong to an activity of its trip, or to none; see `ExpenseField.store`."""
    rows = expense.trip.activity_expenses
    rows.filter(expense=expense.pk).delete()
    if activity_id is not None:
        rows.create(expense=expense, activity_id=activity_id)


def with_costs(reader: Any) -> "Prefetch[Any]":
    """What reads the expenses of activities: none if the token of `reader` may not see them."""
    rows = ActivityExpense.objects.recorded()
    may_see = reader.covers(Scope.EXPENSES_READ)
    return Prefetch("links", rows if may_see else rows.none(), "loaded_links")


#: The columns of an activity in an itinerary: first those that others are found by.
_KEYS = ["id", "date", "created_by_id"]
_OTHERS = [one.attname for one in Activity._meta.concrete_fields if one.attname not in _KEYS]
_ADDED = ["day_index", "expense_ids", "cost_minor", "created_by"]


class PlannedActivity(namedtuple("_Planned", [*_KEYS, *_OTHERS, *_ADDED])):
    """An activity in an itinerary, with all that its serializer shows.

    Instances of the model would take several times as long to make and to serialize. Who shows more
    sets it as an attribute.
    """


def plan_of(trip: Trip, reader: Any) -> list[Any]:
    """The activities of a trip in the order of the plan, with all that `reader` sees of them."""
    rows = _activities_in.fetch(trip=trip.pk)
    authors = {user.pk: user for user in _people.fetch(ids={row[2] for row in rows})}
    ids: dict[int, list[int]] = defaultdict(list)
    costs: Counter[int] = Counter()
    links = _links_in.fetch(trip=trip.pk) if reader.covers(Scope.EXPENSES_READ) else ()
    for pk, expense_id, amount_minor in links:
        ids[pk].append(expense_id)
        costs[pk] += amount_minor
    # mypy does not know how many columns there are.
    planned: Any = PlannedActivity
    return [
        planned(pk, day, by, *others, day_index(trip, day), ids[pk], costs[pk], authors[by])
        for pk, day, by, *others in rows
    ]


@CompiledQuery
def _activities_in(trip: Param) -> Any:
    return Activity.objects.filter(trip=trip).kept().planned().values_list(*_KEYS, *_OTHERS)


@CompiledQuery
def _links_in(trip: Param) -> Any:
    rows = ActivityExpense.objects.filter(trip=trip).recorded()
    return rows.values_list("activity_id", "expense_id", "amount_minor")


@CompiledQuery
def _people(ids: ArrayParam = ArrayParam("ids")) -> Any:
    return User.objects.filter(ArrayParam.among(ids, "id")).only(*summary_of())


class ShownActivities(ActivityQuerySet):
    def shown_to(self, reader: Any) -> Any:
        """With details, and with the expenses that `reader` may see."""
        return self.with_details().prefetch_related(with_costs(reader))

    def visible_to(self, user: User | ViewerParam) -> Any:
        return super().visible_to(user).shown_to(user)


def of_recorded() -> Q:
    """Condition on links: neither the expense nor the activity is deleted."""
    return Q(expense__trip=F("trip"), activity__deleted_at=None)
