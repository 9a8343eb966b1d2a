"""What clients of Splitwise's API enter and our tables have no place for."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q
from django.dispatch import receiver

from plugins.moving import expense_moved
from splits.models import Expense
from trips.models import InTripQuerySet, Member, Trip
from users.models import User
from users.signals import sessions_ended

if settings.SPLITWISE_OAUTH:
    from oauth2_provider.models import Grant

GROUP_TYPES = ("home", "trip", "couple", "other", "apartment", "house")
DEFAULT_GROUP_TYPE = "trip"


class GroupQuerySet(InTripQuerySet["Group"]):
    def with_outside(self) -> "GroupQuerySet":
        """With `is_outside`: whether the trip is of two people only, and so part of group 0.

        With a third person, who may be a stranger that added both, it is a group as others are.
        Former members count as well: they know the code of the trip.
        """
        people = Member.objects.filter(trip=OuterRef("trip")).order_by().values("trip")
        third = people.annotate(count=Count("pk")).filter(count__gt=2)
        rows: Any = self
        return rows.annotate(is_outside=Q(is_friendship=True) & ~Exists(third))

    def friendships(self, user: User) -> "GroupQuerySet":
        """The trips of `user` that these clients see as expenses outside of groups."""
        return self.of_member(user).with_outside().filter(is_outside=True)


class Group(models.Model):
    """What these clients know of a trip besides its columns. Not every trip has such a row."""

    trip = models.OneToOneField(Trip, on_delete=models.CASCADE, primary_key=True, related_name="+")
    #: Whether it was made for what two people share outside of groups.
    is_friendship = models.BooleanField(default=False)
    group_type = models.CharField(max_length=9, default=DEFAULT_GROUP_TYPE)
    simplify_by_default = models.BooleanField(default=True)

    objects = GroupQuerySet.as_manager()

    caller_role: str
    #: Set by `with_outside`.
    is_outside: bool = False

    def __str__(self) -> str:
        return f"#{self.pk}"


class GivenCategory(models.Model):
    """The category that a client gave an expense: theirs are finer than ours.

    The id of the expense is no foreign key, so that the row outlives the deletion of the expense,
    which may be restored.
    """

    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="+", db_index=False)
    expense_id = models.BigIntegerField()
    category_id = models.PositiveSmallIntegerField()

    class Meta:
        constraints: ClassVar[list[Any]] = [
            models.UniqueConstraint(fields=["trip", "expense_id"], name="category_given_once")
        ]

    def __str__(self) -> str:
        return f"#{self.expense_id}: {self.category_id}"


@receiver(expense_moved)
def keep_given_category(expense: Expense, trip: Trip, moved_id: int, **_about: object) -> None:
    """Give the moved expense the category; the deleted one keeps it, as it may be restored."""
    given = GivenCategory.objects.filter(trip=expense.trip_id, expense_id=expense.pk)
    for category_id in given.values_list("category_id", flat=True):
        GivenCategory.objects.create(trip=trip, expense_id=moved_id, category_id=category_id)


@receiver(sessions_ended)
def delete_codes_of(account: User, **_about: object) -> None:
    """Delete the codes that programs could still exchange for a token.

    Called under the lock of the account.
    """
    if settings.SPLITWISE_OAUTH:
        Grant.objects.filter(user=account).delete()
