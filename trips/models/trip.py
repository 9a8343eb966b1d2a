"""Trips: started, changed, joined, removed."""

import secrets
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError

from tripcompanion.kit.currencies import CODES, Amount, to_major
from tripcompanion.kit.deleting import delete_unread
from tripcompanion.kit.prepared import Given, PreparedUpdate
from tripcompanion.kit.problems import Conflict, InsufficientScope, LimitReached
from tripcompanion.kit.serializers import minor_units
from trips.models.lock import lock_trip, locked_trip
from trips.models.visibility import InTripQuerySet, PreparedFor, Viewer
from trips.roles import Can, TripRole, may_grant
from users.models import User

if TYPE_CHECKING:
    from trips.models.member import Member

#: Capitals and digits without those that are read for one another: 0 and O, 1 and I.
CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_CHARS = 8

ROLE_CHOICES = [(role.value, role.value) for role in TripRole]
JOIN_ROLE_CHOICES = [
    (role.value, role.value) for role in TripRole if may_grant(TripRole.EDITOR, role)
]
_CODE_ATTEMPTS = 5


def new_code() -> str:
    """A trip code from the system's cryptographic source: 40 bits."""
    return "".join(secrets.choice(CODE_ALPHABET) for _position in range(CODE_CHARS))


class UserNotFound(NotFound):
    """404 `user_not_found`: nobody to add has this id or address."""

    default_code = "user_not_found"

    default_detail = gettext_lazy("There is no such user.")


class CurrencyFixed(Conflict):
    """409 `currency_fixed`: money is recorded in the present currency."""

    default_code = "currency_fixed"
    default_detail = gettext_lazy(
        "The currency stays as it is: the trip has entries in %(currency)s."
    )
    example_values: ClassVar = {"currency": "EUR"}


class CurrencyChanged(Conflict):
    """409 `currency_changed`: the amounts were meant in the currency that the trip had before."""

    default_code = "currency_changed"
    default_detail = gettext_lazy(
        "The amounts were meant in %(meant)s, but the trip is in %(currency)s now."
    )
    example_values: ClassVar = {"meant": "EUR", "currency": "JPY"}


class AlreadyMember(Conflict):
    """409 `already_member`: nobody is a member twice."""

    default_code = "already_member"
    default_detail = gettext_lazy("This user is a member of the trip already.")


class TripQuerySet(InTripQuerySet["Trip"]):
    members_path = "members"

    def with_code(self, code: str) -> "TripQuerySet":
        """The trip that a code leads to, in any case of letters, or none."""
        return self.filter(code=code.upper()) if code.isascii() and code.isalnum() else self.none()


class Trip(models.Model):
    """A journey that people share; its money is in one currency."""

    title = models.CharField(max_length=100)
    destination = models.CharField(max_length=100)
    description = models.TextField(max_length=2000, blank=True, default="")
    image_url = models.CharField(max_length=2048, null=True, blank=True)  # noqa: DJ001
    start_date = models.DateField()
    end_date = models.DateField()
    budget_minor = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, choices=[(c, c) for c in CODES])
    code = models.CharField(max_length=CODE_CHARS, unique=True, default=new_code)
    join_role = models.CharField(max_length=6, choices=JOIN_ROLE_CHOICES, default=TripRole.VIEWER)
    #: How many expenses were ever recorded here; it turns the order in which odd cents fall.
    expenses_recorded = models.PositiveIntegerField(default=0, editable=False)
    #: How many of them on `counted_on`, the last day on which there was one.
    expenses_that_day = models.PositiveIntegerField(default=0, editable=False)
    counted_on = models.DateField(null=True, editable=False)
    #: The period of the book that is on, counted from 0; closing the trip starts the next one.
    period = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    #: All periods before this one are closed.
    oldest_open_period = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TripQuerySet.as_manager()

    #: Set by `visible_to` and under the lock.
    caller_role: str

    class Meta:
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
            models.CheckConstraint(
                condition=Q(oldest_open_period__lte=F("period")), name="trip_periods_in_order"
            ),
        ]
        indexes = [models.Index(fields=["-start_date", "-id"], name="trip_newest_start")]

    def __str__(self) -> str:
        return self.title

    @classmethod
    def start(cls, owner: User, **fields: Any) -> "Trip":
        """A new trip with `owner` as its OWNER; the currency defaults to theirs.

        Raises `ValidationError` if it would end before it starts, `LimitReached` if `owner` has
        `QUOTA_TRIPS` trips, and `InsufficientScope` if they are confined to another trip.
        """
        if owner.confined_to is not None:
            raise InsufficientScope
        fields.setdefault("currency", owner.currency)
        _require_order(fields["start_date"], fields["end_date"])
        if "budget" in fields:
            fields["budget_minor"] = _budget_minor(fields.pop("budget"), fields["currency"])
        with transaction.atomic():
            User.objects.active().locked(owner.pk)
            _require_room_for_a_trip(owner)
            trip = cls(**fields)
            trip._save_with_new_code()
            trip.members.create(user=owner, role=TripRole.OWNER)
        trip.caller_role = TripRole.OWNER
        return trip

    def change(self, by: User, **fields: Any) -> None:
        """Store the given fields only. `budget` is an `Amount` or None.

        A stored budget keeps its number in a new currency. Raises `ValidationError` if the trip
        would end before it starts, `CurrencyFixed` if the currency would change under recorded
        money, and `CurrencyChanged` if the budget was meant in another one.
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
            for name, value in fields.items():
                setattr(trip, name, value)
            trip.updated_at = timezone.now()
            trip.save(update_fields=[*fields, "updated_at"])

    @property
    def has_entries(self) -> bool:
        """Whether any money is recorded in this trip."""
        return self.expenses.exists() or self.settlements.exists()

    def count_expense(self) -> None:
        """Note that one more expense was recorded. Call under the trip's lock.

        Raises `LimitReached` above `QUOTA_EXPENSES` in one day (UTC).
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

    def remove(self, by: User) -> None:
        """Delete the trip with all that is in it. Not undone."""
        with locked_trip(self.pk, by, Can.MANAGE_TRIP):
            delete_unread(Trip.objects.filter(pk=self.pk))

    def renew_code(self, by: User) -> None:
        """Give the trip a new code; the old one is dead from now on."""
        with locked_trip(self.pk, by, Can.MANAGE_TRIP) as trip:
            trip.updated_at = timezone.now()
            trip.code = new_code()
            trip._save_with_new_code(update_fields=["code", "updated_at"])

    def _save_with_new_code(self, update_fields: Iterable[str] | None = None) -> None:
        for attempt in range(_CODE_ATTEMPTS):
            try:
                with transaction.atomic():
                    self.save(update_fields=update_fields)
                return
            except IntegrityError:
                if attempt == _CODE_ATTEMPTS - 1:
                    raise
                self.code = new_code()

    @cached_property
    def present_roles(self) -> Mapping[int, str]:
        """The roles of the present members by user id; set under the lock."""
        return dict(self.members.filter(left_at=None).values_list("user", "role"))

    def minor_units(self, field: str, amount: Amount) -> int:
        """Minor units of an entered amount, rounded half up. Call under the trip's lock.

        Raises `CurrencyChanged` if it was meant in another currency than the trip has now, and
        `ValidationError` on `field` if it rounds to nothing.
        """
        self.require_currency(amount.currency)
        return minor_units(field, amount.value, self.currency)

    def require_currency(self, meant: str) -> None:
        """Raise `CurrencyChanged` if the trip is no longer in the currency `meant`."""
        if meant != self.currency:
            raise CurrencyChanged(meant=meant, currency=self.currency)

    def require_members(self, named: Mapping[str, Iterable[int]]) -> None:
        """Raise `ValidationError` on each field of `named` that names somebody else than a member.

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

    def add_member(
        self, by: User, *, role: str, user_id: int | None = None, email: str = ""
    ) -> "Member":
        """Make somebody a member, named by id or by address.

        Raises `PermissionDenied` if `role` is above the caller's own, `UserNotFound`, and what
        `admit` raises.
        """
        found = (
            User.objects.with_email(email)
            if user_id is None
            else User.objects.active().filter(pk=user_id)
        )
        with transaction.atomic():
            user = _locked_account(found)
            with locked_trip(self.pk, by, Can.ADD_MEMBERS) as trip:
                if not may_grant(trip.caller_role, role):
                    raise PermissionDenied(_("You cannot give a role above your own."))
                if user is None:
                    raise UserNotFound
                return trip._admit_locked(user, role)

    def join(self, user: User, code: str) -> "Member":
        """Make `user`, who knows the code, a member with the role that the trip gives.

        Raises `NotFound` if that is no longer its code, `EmailUnverified`, and what `admit` raises.
        """
        with transaction.atomic():
            account = User.objects.active().locked(user.pk)
            account.require_verified_email()
            trip = lock_trip(self.pk)
            if trip.code != code.upper():
                raise NotFound
            return trip._admit_locked(account, trip.join_role)

    def admit(self, user: User, role: str) -> "Member":
        """Make `user` a member, also again, in the name of the service.

        Raises `AlreadyMember`, and `LimitReached` above `QUOTA_MEMBERS` or `QUOTA_TRIPS`.
        """
        with transaction.atomic():
            account = User.objects.active().locked(user.pk)
            return lock_trip(self.pk)._admit_locked(account, role)

    def _admit_locked(self, user: User, role: str) -> "Member":
        """Call under the locks of first the account and then the trip, as in `close_account`.

        With that order there is no deadlock.
        """
        member = self.members.filter(user=user).first()
        if member is not None and member.left_at is None:
            raise AlreadyMember
        if self.members.present().count() >= settings.QUOTA_MEMBERS:
            raise LimitReached(limit=settings.QUOTA_MEMBERS)
        _require_room_for_a_trip(user)
        if member is None:
            return self.members.create(user=user, role=role)
        member.role, member.left_at, member.joined_at = role, None, timezone.now()
        member.save(update_fields=["role", "left_at", "joined_at"])
        return member


@PreparedUpdate
def _note_counts(
    pk: Given,
    recorded: Given,
    that_day: Given,
    day: Given = Given("day", models.DateField()),
) -> tuple[TripQuerySet, dict[str, Any]]:
    counts = {"expenses_recorded": recorded, "expenses_that_day": that_day, "counted_on": day}
    return Trip.objects.filter(pk=pk), counts


@PreparedFor
def trips_of(user: Viewer) -> TripQuerySet:
    """The trips that a user is a member of, the newest start first."""
    return Trip.objects.of_member(user).order_by("-start_date", "-id")


def _require_room_for_a_trip(user: User) -> None:
    # Under the lock of the account, so that two requests at once do not end above the quota.
    if user.memberships.filter(left_at=None).count() >= settings.QUOTA_TRIPS:
        raise LimitReached(limit=settings.QUOTA_TRIPS)


def _require_order(start: date, end: date) -> None:
    if end < start:
        raise ValidationError({"endDate": [_("Must not be before the start date.")]})


def _budget_minor(budget: Amount | None, currency: str) -> int | None:
    if budget is None:
        return None
    if budget.currency != currency:
        raise CurrencyChanged(meant=budget.currency, currency=currency)
    return minor_units("budget", budget.value, currency)


def _locked_account(found: models.QuerySet[User]) -> User | None:
    """The one account of `found`, locked until the transaction ends, if it is still there."""
    return found.select_for_update(no_key=True).first()
