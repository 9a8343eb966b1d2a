"""Deleted expenses and settlements, as they were: out of the ledger until they are restored."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, TypeVar

import orjson
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models.allocation import AllocationRow
from splits.models.closing import OffsetRow
from splits.models.items import key_of
from trips.models import InTripQuerySet, Trip, trip_key
from trips.models.conflicts import NotRestorable
from trips.roles import Capability
from users.models import User

Row = TypeVar("Row", bound=models.Model)

_MONEY = ("settlement", "settlements")
_PEOPLE = {
    "payers": ("user_id",),
    "splits": ("participant_id",),
    "debts": ("debtor_id", "creditor_id"),
    **dict.fromkeys(_MONEY, ("sender_id", "receiver_id")),
}

#: How many rows are read at a time. That of a settlement which closed a trip may have 3 MB.
AT_A_TIME = 10


class DeletedKind(models.TextChoices):
    EXPENSE = "expense", gettext_lazy("expense")
    SETTLEMENT = "settlement", gettext_lazy("settlement")


class DeletedQuerySet(InTripQuerySet["DeletedEntry"]):
    def expenses(self) -> "DeletedQuerySet":
        return self.filter(kind=DeletedKind.EXPENSE)

    def settlements(self) -> "DeletedQuerySet":
        return self.filter(kind=DeletedKind.SETTLEMENT)

    def one_by_one(self) -> Iterator["DeletedEntry"]:
        """All rows, a few of them in memory at a time, and what is stored in one of them."""
        rows, last, is_full = self.order_by("pk"), 0, True
        while is_full and (chunk := list(rows.filter(pk__gt=last)[:AT_A_TIME])):
            is_full, last = len(chunk) == AT_A_TIME, chunk[-1].pk
            while chunk:
                yield chunk.pop(0)


class DeletedEntry(models.Model):
    """An expense or a settlement that was deleted, with all rows that were deleted with it.

    The rows are in no table of the ledger, so sums and lists do not have to exclude them. `prune`
    deletes them after `DELETED_ENTRY_DAYS`.
    """

    trip = trip_key("deleted_entries", db_index=False)
    kind = models.CharField(gettext_lazy("type"), max_length=10, choices=DeletedKind)
    #: The id that the entry had, and gets back when it is restored.
    object_id = models.BigIntegerField()
    #: The currency of the trip.
    currency = models.CharField(gettext_lazy("currency"), max_length=3)
    #: JSON text with the columns of each row; see `rows_of`.
    stored_rows = models.TextField()
    deleted_at = models.DateTimeField(
        gettext_lazy("deleted at"), default=timezone.now, db_index=True
    )

    objects = DeletedQuerySet.as_manager()

    caller_role: str

    class Meta:
        verbose_name = gettext_lazy("deleted entry")
        verbose_name_plural = gettext_lazy("deleted entries")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["trip", "kind", "object_id"], name="deleted_once_in_trip"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.object_id}"

    @classmethod
    def keep(
        cls,
        trip: Trip,
        kind: str,
        object_id: int,
        allocations: Iterable[AllocationRow],
        offsets: Iterable[OffsetRow],
        states: Iterable[tuple[Any, ...]] = (),
        **rows: Iterable[models.Model],
    ) -> None:
        """Store deleted rows by name. Call it under the trip's lock.

        `allocations` and `offsets` were deleted with them. `states` contain what the splits had
        besides their columns: open amount, and time of payment.
        """
        stored: dict[str, Any] = {
            name: [_columns_of(row) for row in some] for name, some in rows.items()
        }
        stored |= {
            "allocations": sorted(allocations),
            "offsets": list(offsets),
            "states": list(states),
            "former": sorted(_people_in(stored) - trip.present_roles.keys()),
        }
        cls.objects.create(
            trip=trip,
            kind=kind,
            object_id=object_id,
            currency=trip.currency,
            stored_rows=_text_of(stored),
        )

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The columns of each row, by the name that `keep` was given."""
        return orjson.loads(self.stored_rows)

    @property
    def row(self) -> dict[str, Any]:
        """The columns of the expense or settlement itself."""
        return self.stored[self.kind][0]

    @property
    def amount_minor(self) -> int:
        """In minor units of `currency`."""
        return self.row["amount_minor"]

    def rows_of(self, name: str, model: type[Row]) -> list[Row]:
        """The rows that were stored under this name, unsaved and with their ids.

        Another release may have stored them: a column that they lack has its default, and one that
        the table lacks is left out.
        """
        fields = {field.attname: field for field in model._meta.concrete_fields}
        # Rows that 1.0.0 stored lack the trip, which has no default.
        rows = ({"trip_id": self.trip_id} | row for row in self.stored.get(name, ()))
        return [
            model(**{key: fields[key].to_python(row[key]) for key in row.keys() & fields.keys()})
            for row in rows
        ]

    @property
    def people(self) -> set[int]:
        """The ids of all people in the ledger whom the entry names, if not only in offsets."""
        return _people_in(self.stored)

    @property
    def settlement_ids(self) -> set[int]:
        """The ids of its settlements, and of the offsets."""
        rows = (row["id"] for name in _MONEY for row in self.stored.get(name, ()))
        return {*rows, *(offset[0] for offset in self.stored.get("offsets", ()))}

    def offsets_between(self, both: Collection[int]) -> set[int]:
        """The ids of the offsets between these two people."""
        offsets = self.stored.get("offsets", ())
        return {pk for pk, _closing, *pair, _minor in offsets if {*pair} <= {*both}}

    def names(self, user_id: int) -> bool:
        """Whether the entry names this person, if only in the items."""
        return user_id in self.people or key_of(user_id) in (self.row.get("stored_items") or "")

    def rename(self, user_id: int, to: int, dropped: Collection[int] = ()) -> None:
        """Replace one person by another, and save the entry if this changes it.

        If it names both, it would have one person twice, so it is not restored any more. Leave out
        the `dropped` offsets.
        """
        stored = self.stored
        if self.names(user_id) and self.names(to):
            stored["has_one_twice"] = True
        self._rename_in_offsets({user_id: to}, dropped)
        for row in stored.get("expense", ()):
            # The payers and splits still have the former name.
            if self.names(user_id):
                row["merged_guests"] = f"{row.get('merged_guests', '')} {to}:{user_id}"
            if row.get("stored_items"):
                row["stored_items"] = row["stored_items"].replace(key_of(user_id), key_of(to))
        for row, column in _names_in(stored):
            if row[column] == user_id:
                row[column] = to
        for row in chain.from_iterable(stored.get(name, ()) for name in ("expense", *_MONEY)):
            if row.get("created_by_id") == user_id:
                row["created_by_id"] = to
        stored["former"] = [to if pk == user_id else pk for pk in stored.get("former", ())]
        self.save_rows()

    def _rename_in_offsets(self, renamed: Mapping[int, int], dropped: Collection[int]) -> None:
        stored = self.stored
        if "offsets" in stored:
            stored["offsets"] = [
                [pk, closing, *(renamed.get(person, person) for person in pair), minor]
                for pk, closing, *pair, minor in stored["offsets"]
                if pk not in dropped
            ]
            stored["allocations"] = [row for row in stored["allocations"] if row[2] not in dropped]

    def save_rows(self) -> None:
        text = _text_of(self.stored)
        if text != self.stored_rows:
            self.stored_rows = text
            # `prune` may have deleted the entry meanwhile.
            DeletedEntry.objects.filter(pk=self.pk).update(stored_rows=text)

    def is_own(self, user: User, can: Capability) -> bool:
        """Whether `user` recorded the entry or, for an expense, is a payer."""
        payers = {row["user_id"] for row in self.stored.get("payers", ())}
        recorded_by = self.row["created_by_id"]
        return user.pk == recorded_by or user.pk in payers

    def require_restorable(self) -> None:
        """Raise `NotRestorable` if it does not fit the people or the currency of the trip any more.

        Call it under the trip's lock.
        """
        if self.stored.get("has_one_twice"):
            raise NotRestorable(reason=_("It names two people who have become one."))
        if self.currency != self.trip.currency:
            reason = _("The trip's currency was %(currency)s.") % {"currency": self.currency}
            raise NotRestorable(reason=reason)
        former = self.stored.get("former", ())
        gone = sorted(self.people - self.trip.present_roles.keys() - {*former})
        if gone:
            ids = ", ".join(map(str, gone))
            raise NotRestorable(
                reason=_("Not members of the trip any more: %(ids)s.") % {"ids": ids}
            )


def _text_of(stored: Mapping[str, Any]) -> str:
    """Dates and decimals are stored as text, which their fields parse exactly."""
    return orjson.dumps(stored, default=str).decode()


def _people_in(stored: Mapping[str, Any]) -> set[int]:
    return {row[column] for row, column in _names_in(stored)}


def _names_in(stored: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for name, columns in _PEOPLE.items():
        yield from ((row, column) for row in stored.get(name, ()) for column in columns)


def _columns_of(row: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
