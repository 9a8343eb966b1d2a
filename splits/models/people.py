"""Whom the entries of a trip name, and how one person takes the place of another in all of them."""

from typing import Any

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat, Replace
from django.dispatch import receiver

from splits.models.debt import Debt
from splits.models.expense import Expense
from splits.models.items import key_of
from splits.models.payer import Payer
from splits.models.settlement import Settlement
from splits.models.split import Split
from tripcompanion.database.deletes import delete_unread
from trips.models import Trip
from trips.signals import person_replaced, person_sought

#: Every column that names a person of the ledger, or who recorded an entry: guests record nothing,
#: but some have recorded what was imported.
PEOPLE: tuple[tuple[type[Model], str], ...] = (
    (Payer, "user"),
    (Split, "participant"),
    (Debt, "debtor"),
    (Debt, "creditor"),
    (Settlement, "sender"),
    (Settlement, "receiver"),
    (Expense, "created_by"),
    (Settlement, "created_by"),
)


def expenses_with(trip: Trip, *user_ids: int) -> QuerySet[Expense]:
    """The expenses that name all of these people: in the items also without a split."""
    rows, same = Expense.objects.filter(trip=trip), {"trip": trip, "expense": OuterRef("pk")}
    for user_id in user_ids:
        paid = Exists(Payer.objects.filter(user=user_id, **same))
        shared = Exists(Split.objects.filter(participant=user_id, **same))
        rows = rows.filter(paid | shared | Q(stored_items__contains=key_of(user_id)))
    return rows


@receiver(person_replaced)
def give_entries(trip: Trip, user_id: int, to: int, **_about: object) -> None:
    """Replace one person by another in all entries, including deleted ones.

    Call it under the lock of the trip. No amounts change, and the odd cents stay where they are.
    The caller decides who has which sums.
    """
    with_pair = Concat(F("merged_guests"), Value(f" {to}:{user_id}"))
    expenses_with(trip, user_id).update(merged_guests=with_pair)
    dropped = _drop_offsets_between(trip, {user_id, to})
    for model, column in PEOPLE:
        named: dict[str, Any] = {"trip": trip, column: user_id}
        rows: QuerySet = model._base_manager.filter(**named)
        rows.update(**{column: to})
    trip.rename_in_default_division(user_id, to)
    itemized = Expense.objects.filter(trip=trip, stored_items__contains=key_of(user_id))
    renamed = Replace("stored_items", Value(key_of(user_id)), Value(key_of(to)))
    itemized.update(stored_items=renamed)
    for entry in trip.deleted_entries.one_by_one():
        entry.rename(user_id, to, dropped)


def _drop_offsets_between(trip: Trip, both: set[int]) -> set[int]:
    """Delete what was offset between two people who become one: for this person, it is nothing.

    No debt between them is left that it could cover. Returns the ids, including those of offsets of
    deleted entries.
    """
    between = Settlement.with_offsets.filter(trip=trip, closing__isnull=False)
    offsets = between.filter(sender__in=both, receiver__in=both)
    dropped = set(offsets.values_list("pk", flat=True))
    delete_unread(offsets)
    for entry in trip.deleted_entries.one_by_one():
        dropped |= entry.offsets_between(both)
    return dropped


@receiver(person_sought)
def is_named(trip: Trip, user_id: int, **_about: object) -> bool:
    """Whether an entry that is not deleted names this person."""
    return any(
        model._base_manager.filter(trip=trip, **{column: user_id}).exists()
        for model, column in PEOPLE
    )
