"""The expenses that belong to activities."""

from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Prefetch, Q, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from plugins.itinerary.models.activity import Activity, ActivityQuerySet
from splits.models import Expense
from tripcompanion.compiled import CompiledQuery, Param
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
    activity = models.ForeignKey(
        Activity,
        on_delete=models.CASCADE,
        related_name="links",
        verbose_name=gettext_lazy("activity"),
    )
    expense = models.ForeignKey(
        Expense,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        db_index=False,
        verbose_name=gettext_lazy("expense"),
    )

    objects = ActivityExpenseQuerySet.as_manager()

    #: In minor units of the trip's currency; `recorded` sets it.
    amount_minor: int

    class Meta:
        verbose_name = gettext_lazy("expense of an activity")
        verbose_name_plural = gettext_lazy("expenses of activities")
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


def link(expense: Expense, activity_id: int | None) -> None:
    """Let an expense belong to an activity of its trip, or to none; see `ExpenseField.store`."""
    trip = expense.trip
    if activity_id is not None and not trip.activities.kept().filter(pk=activity_id).exists():
        text = _("There is no such activity in the trip.")
        raise ValidationError({"activityId": [text]})
    trip.activity_expenses.filter(expense=expense.pk).delete()
    if activity_id is not None:
        trip.activity_expenses.create(expense=expense, activity_id=activity_id)


def with_costs(reader: Any) -> "Prefetch[Any]":
    """What reads the expenses of activities: none if the token of `reader` may not see them."""
    rows = ActivityExpense.objects.recorded()
    return Prefetch("links", rows if _sees_costs(reader) else rows.none(), "loaded_links")


def _sees_costs(reader: Any) -> bool:
    return bool(reader.covers(Scope.EXPENSES_READ))


def planned_for(reader: Any, activities: Any = Activity.objects) -> "ActivityQuerySet":
    """The activities in the order of the plan, with all that `reader` sees of them.

    Their trip is known if they are those of one. Joins would make a person and a trip of each row.
    """
    people: Prefetch[Any] = Prefetch("created_by", User.objects.only(*summary_of()))
    return activities.kept().planned().prefetch_related(people, with_costs(reader))


def plan_of(trip: Trip, reader: Any) -> list[Activity]:
    """The activities of a trip as `planned_for` has them, in one statement where that can be."""
    sees_all = _sees_costs(reader)
    return list(_planned_in(trip=trip.pk) if sees_all else planned_for(reader, trip.activities))


@CompiledQuery
def _planned_in(trip: Param) -> "ActivityQuerySet":
    links: Prefetch[Any] = Prefetch("links", ActivityExpense.objects.recorded(), "loaded_links")
    found = Activity.objects.filter(trip=trip).kept().planned().with_details()
    return found.prefetch_related(links)


class ShownActivities(ActivityQuerySet):
    """Activities with details, and with the expenses that the reader may see."""

    def visible_to(self, user: User | ViewerParam) -> Self:
        rows: Any = super().visible_to(user).with_details()
        return rows.prefetch_related(with_costs(user))


def of_recorded() -> Q:
    """Condition on links: neither the expense nor the activity is deleted."""
    expenses = Expense.objects.filter(pk=OuterRef("expense"), trip=OuterRef("trip"))
    return Q(Exists(expenses), activity__deleted_at=None)
