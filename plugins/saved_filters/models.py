"""Queries of the list of expenses that an account has saved under a name."""

import re
from typing import ClassVar

from django.db import models
from django.dispatch import receiver
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from tripcompanion.api.problems import Conflict, LimitReached
from trips.models import Trip
from trips.signals import person_replaced
from users.models import User

MAX_FILTERS = 50
#: The parameters of the list that name a person.
PERSON_PARAMETERS = ("paidBy", "payer", "participant")
MAX_NAME_CHARS = 100
MAX_QUERY_CHARS = 2048


class FilterNameTaken(Conflict):
    """409 `name_taken`: the caller has another saved filter with this name."""

    default_code = "name_taken"
    default_detail = gettext_lazy("You already have a saved filter with this name.")
    field = "name"


class SavedFilter(models.Model):
    """A query, as `stored_query` writes it; its account uses it in all trips."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="saved_filters", db_index=False
    )
    name = models.CharField(max_length=MAX_NAME_CHARS)
    query = models.CharField(max_length=MAX_QUERY_CHARS)

    class Meta:
        db_table = "splits_savedfilter"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "name"], name="one_filter_of_a_name")
        ]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def save_for(cls, user: User, **fields: str) -> "SavedFilter":
        """Save a new filter of `user`. Raises `LimitReached` and `FilterNameTaken`."""
        with user.locked(by=user) as owner:
            LimitReached.require_at_most(MAX_FILTERS, owner.saved_filters.count() + 1)
            if owner.saved_filters.filter(name=fields["name"]).exists():
                raise FilterNameTaken
            return owner.saved_filters.create(**fields)

    def replace(self, **fields: str) -> None:
        """Change it. Raises `FilterNameTaken`, and `NotFound` if it was deleted meanwhile."""
        with self.user.locked(by=self.user) as owner:
            rows = owner.saved_filters
            if rows.filter(name=fields["name"]).exclude(pk=self.pk).exists():
                raise FilterNameTaken
            if not rows.filter(pk=self.pk).update(**fields):
                raise NotFound


@receiver(person_replaced)
def rename_in_filters(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Let the filters of the trip's members find who took the place of a guest.

    An account that left its place is in other trips, too, so filters go on naming it.
    """
    if not User.objects.filter(pk=user_id, is_guest=True).exists():
        return
    named = re.compile(rf"(?<![^&])({'|'.join(PERSON_PARAMETERS)})={user_id}(?![^&])")
    rows = SavedFilter.objects.filter(user__memberships__trip=trip, query__contains=f"={user_id}")
    for row in rows:
        query = named.sub(rf"\1={to}", row.query)
        if len(query) <= MAX_QUERY_CHARS:
            # Unless its user has changed or deleted it meanwhile.
            SavedFilter.objects.filter(pk=row.pk, query=row.query).update(query=query)
