"""Trips: creation, changes and removal."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from tripcompanion.api.problems import Conflict, LimitReached
from tripcompanion.compiled import CompiledUpdate, Param
from tripcompanion.currency.amounts import CODES, Amount, to_major
from tripcompanion.currency.fields import minor_units
from trips.models.deleted import DeletableTrip, DeletableTripQuerySet
from trips.models.events import Event
from trips.models.joining import JoinableTrip, require_trip_quota
from trips.models.journal import Entry, entries_between, write, write_change
from trips.models.journal_fields import trip_fields
from trips.models.lock import locked_trip
from trips.models.visibility import CompiledForViewer, ViewerParam
from trips.roles import CREATOR_ROLE, JOIN_ROLE_CHOICES, OWNER_ROLES, Can
from trips.signals import person_replaced
from users.models import User
from users.models.token import InsufficientScope


class CurrencyFixed(Conflict):
    """409 `currency_fixed`: the trip has entries in its current currency."""

    default_code = "currency_fixed"
    default_detail = gettext_lazy(
        "The currency cannot be changed: the trip has entries in %(currency)s."
    )
    example_values: ClassVar = {"currency": "EUR"}


class CurrencyChanged(Conflict):
    """409 `currency_changed`: the amounts are in the trip's previous currency."""

    default_code = "currency_changed"
    default_detail = gettext_lazy(
        "The amounts are in %(meant)s, but the currency is now %(currency)s."
    )
    example_values: ClassVar = {"meant": "EUR", "currency": "JPY"}


class TripQuerySet(DeletableTripQuerySet["Trip"]):
    def with_code(self, code: str) -> "TripQuerySet":
        """The trip with this code, ignoring case, or no trip.

        The code is invalid while none of the trip's owners can log in.
        """
        if not (code.isascii() and code.isalnum()):
            return self.none()
        owned = Trip.objects.filter(
            members__role__in=OWNER_ROLES,
            members__left_at=None,
            members__user__is_active=True,
        )
        return self.filter(Exists(owned.filter(pk=OuterRef("pk"))), code=code.upper())


def parse_former_ids(*texts: str) -> Mapping[int, int]:
    """The ids of former guests by those of accounts: "17:11" says that 17 was guest 11.

    Of several texts, the first one that names an account decides. Guest 11 may have taken the place
    of another one.
    """
    former_ids: dict[int, int] = {}
    for pair in " ".join(texts).split():
        account, guest = map(int, pair.split(":"))
        former_ids.setdefault(account, former_ids.get(guest, guest))
    return former_ids


class Trip(JoinableTrip, DeletableTrip):
    """A trip, with its members and expenses; its ledger is in one currency."""

    title = models.CharField(gettext_lazy("title"), max_length=100)
    destination = models.CharField(gettext_lazy("destination"), max_length=100)
    description = models.TextField(
        gettext_lazy("description"), max_length=2000, blank=True, default=""
    )
    image_url = models.CharField(  # noqa: DJ001 -- as in the API
        gettext_lazy("image URL"), max_length=2048, null=True, blank=True
    )
    start_date = models.DateField(gettext_lazy("start date"))
    end_date = models.DateField(gettext_lazy("end date"))
    budget_minor = models.BigIntegerField(gettext_lazy("budget"), null=True, blank=True)
    currency = models.CharField(
        gettext_lazy("currency"), max_length=3, choices=[(c, c) for c in CODES]
    )
    #: How many expenses were ever recorded; it decides who gets the remaining minor units.
    expenses_recorded = models.PositiveIntegerField(default=0, editable=False)
    #: How many expenses were recorded on `counted_on`, the day of the last one (UTC).
    expenses_that_day = models.PositiveIntegerField(default=0, editable=False)
    counted_on = models.DateField(null=True, editable=False)
    #: Who was a guest before: "17:11" says that account 17 took the place of guest 11.
    claimed_guests = models.TextField(default="", db_default="", editable=False)
    created_at = models.DateTimeField(
        gettext_lazy("created at"), default=timezone.now, editable=False
    )
    updated_at = models.DateTimeField(
        gettext_lazy("updated at"), default=timezone.now, editable=False
    )

    objects = TripQuerySet.as_manager()

    #: See `plain_fields`; in the API it is `tripCode`.
    special_columns: ClassVar = {"code"}
    #: Set by `visible_to` and under the lock.
    caller_role: str
    #: The accounts and guests who are present members, by id; `locked_trip` sets it.
    present_people: Mapping[int, User]

    class Meta:
        verbose_name = gettext_lazy("trip")
        verbose_name_plural = gettext_lazy("trips")
        constraints = [
            models.CheckConstraint(
                condition=Q(end_date__gte=F("start_date")), name="trip_ends_after_start"
            ),
            models.CheckConstraint(
                condition=Q(budget_minor=None) | Q(budget_minor__gt=0), name="trip_budget_positive"
            ),
            models.CheckConstraint(
                condition=Q(join_role__in=[role for role, _label in JOIN_ROLE_CHOICES]),
                name="trip_join_role_known",
            ),
        ]
        indexes = [
            models.Index(fields=["-start_date", "-id"], name="trip_newest_start"),
            models.Index(
                fields=["counted_on"],
                condition=Q(counted_on__isnull=False),
                name="trip_by_last_expense",
            ),
            models.Index(
                fields=["deleted_at"],
                condition=Q(deleted_at__isnull=False),
                name="trip_by_deletion",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @classmethod
    def start(cls, owner: User, **fields: Any) -> "Trip":
        """Create a trip with `owner` as its OWNER; the currency defaults to theirs.

        Raises `ValidationError` if it ends before it starts, `LimitReached` if `owner` has
        `QUOTA_TRIPS` trips, and `InsufficientScope` if their token is confined to a trip.
        """
        if owner.confined_to is not None:
            raise InsufficientScope
        fields.setdefault("currency", owner.currency)
        _require_order(fields["start_date"], fields["end_date"])
        if "budget" in fields:
            fields["budget_minor"] = _budget_minor(fields.pop("budget"), fields["currency"])
        with transaction.atomic():
            User.objects.active().locked(owner.pk)
            require_trip_quota(owner)
            trip = cls(**fields)
            trip._save_with_new_code()
            trip.members.create(user=owner, role=CREATOR_ROLE)
            joined = Entry(Event.MEMBER_JOINED, owner.pk, {"role": (None, CREATOR_ROLE)})
            shown = trip_fields(trip)
            write_change(trip.pk, owner, Event.TRIP_CREATED, trip.pk, {}, shown, then=[joined])
        trip.caller_role = CREATOR_ROLE
        return trip

    def change(self, by: User, **fields: Any) -> None:
        """Store the given fields only. `budget` is an `Amount` or None.

        With a new currency, a stored budget keeps its number. Raises `ValidationError` if the trip
        ends before it starts, `CurrencyFixed` if the currency changes but the trip has entries,
        and `CurrencyChanged` if the budget is in another currency.
        """
        with locked_trip(self.pk, by, Can.MANAGE_TRIP) as trip:
            _require_order(
                fields.get("start_date", trip.start_date), fields.get("end_date", trip.end_date)
            )
            currency = fields.get("currency", trip.currency)
            is_new_currency = currency != trip.currency
            if is_new_currency and trip.has_entries:
                raise CurrencyFixed(currency=trip.currency)
            if is_new_currency and trip.budget_minor:
                kept = Amount(to_major(trip.budget_minor, trip.currency), currency)
                fields.setdefault("budget", kept)
            if "budget" in fields:
                fields["budget_minor"] = _budget_minor(fields.pop("budget"), currency)
            old = trip_fields(trip)
            for name, value in fields.items():
                setattr(trip, name, value)
            changed = entries_between(Event.TRIP_CHANGED, trip.pk, old, trip_fields(trip))
            if changed:
                trip.updated_at = timezone.now()
                trip.save(update_fields=[*fields, "updated_at"])
                write(trip.pk, by, *changed)

    @cached_property
    def former_ids(self) -> Mapping[int, int]:
        """The ids of former guests by those of the accounts that took their place.

        Odd cents are divided in the order of these ids, so that a claim changes no amount.
        """
        return parse_former_ids(self.claimed_guests)

    def replace_person(self, user_id: int, to: int, role: str) -> None:
        """Put `to` in the place of a member, in all entries and sums. Call it under the lock.

        Nobody's amounts change: `to` also gets the odd cents that the member would have got.
        """
        person_replaced.send(Trip, trip=self, user_id=user_id, to=to)
        place = self.members.filter(user=user_id)
        place.update(user=to, role=role, joined_at=timezone.now(), introduced_by=None)
        self.claimed_guests = f"{self.claimed_guests} {to}:{user_id}".strip()
        self.save(update_fields=["claimed_guests"])

    @property
    def has_entries(self) -> bool:
        """Whether the trip has expenses or settlements."""
        return self.expenses.exists() or self.settlements.exists()

    def count_expense(self) -> None:
        """Count one more recorded expense. Call it under the trip's lock.

        Raises `LimitReached` above `QUOTA_EXPENSES` in a day (UTC).
        """
        today = timezone.now().date()
        if self.counted_on != today:
            self.counted_on, self.expenses_that_day = today, 0
        if self.expenses_that_day >= settings.QUOTA_EXPENSES:
            raise LimitReached(limit=settings.QUOTA_EXPENSES)
        self.expenses_that_day += 1
        self.expenses_recorded += 1
        _note_counts(
            pk=self.pk,
            recorded=self.expenses_recorded,
            that_day=self.expenses_that_day,
            day=today,
        )

    @cached_property
    def present_roles(self) -> Mapping[int, str]:
        """The roles of the present members by user id; `locked_trip` sets it."""
        return dict(self.members.filter(left_at=None).values_list("user", "role"))

    def minor_units(self, field: str, amount: Amount) -> int:
        """Minor units of an entered amount, rounded half up. Call it under the trip's lock.

        Raises `CurrencyChanged` if the amount is not in the trip's currency, and `ValidationError`
        on `field` if it rounds to zero.
        """
        self.require_currency(amount.currency)
        return minor_units(field, amount.value, self.currency)

    def require_currency(self, meant: str) -> None:
        """Raise `CurrencyChanged` if the trip's currency is not `meant`."""
        if meant != self.currency:
            raise CurrencyChanged(meant=meant, currency=self.currency)

    def require_members(self, named: Mapping[str, Iterable[int]]) -> None:
        """Raise `ValidationError` on each field of `named` with a user who is not a member.

        `named` maps field names to user ids.
        """
        errors = {}
        for field, user_ids in named.items():
            strangers = [str(user_id) for user_id in user_ids if user_id not in self.present_roles]
            if strangers:
                errors[field] = [
                    _("Not a member of the trip: %(ids)s.") % {"ids": ", ".join(strangers)}
                ]
        if errors:
            raise ValidationError(errors)


@CompiledUpdate
def _note_counts(
    pk: Param,
    recorded: Param,
    that_day: Param,
    day: Param = Param("day", models.DateField()),
) -> tuple[TripQuerySet, dict[str, Any]]:
    counts = {"expenses_recorded": recorded, "expenses_that_day": that_day, "counted_on": day}
    return Trip.objects.filter(pk=pk), counts


@CompiledForViewer
def trips_of(user: ViewerParam) -> TripQuerySet:
    """The trips that a user is a member of, latest start date first."""
    return Trip.objects.of_member(user).order_by("-start_date", "-id")


def _require_order(start: date, end: date) -> None:
    if end < start:
        raise ValidationError({"endDate": [_("Must not be before the start date.")]})


def _budget_minor(budget: Amount | None, currency: str) -> int | None:
    if budget is None:
        return None
    if budget.currency != currency:
        raise CurrencyChanged(meant=budget.currency, currency=currency)
    return minor_units("budget", budget.value, currency)
