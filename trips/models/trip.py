"""The trip, the one lock of the service, and who may see what belongs to a trip."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, Value
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError

from tripcompanion.kit.currencies import CODES
from tripcompanion.kit.deleting import delete_unread
from tripcompanion.kit.prepared import Found, Given, Prepared, PreparedUpdate
from tripcompanion.kit.problems import Conflict, InsufficientScope, LimitReached
from trips.roles import TripRole, may_grant
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

Row = TypeVar("Row", bound=models.Model)


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


class AlreadyMember(Conflict):
    """409 `already_member`: nobody is a member twice."""

    default_code = "already_member"
    default_detail = gettext_lazy("This user is a member of the trip already.")


class Viewer(Given):
    """The place of a user in a prepared read of what they may see; see `PreparedFor`."""

    def __init__(self, is_admin: bool, is_confined: bool) -> None:
        super().__init__("viewer")
        self.is_admin = is_admin
        self.confined_to = Given("confined_to") if is_confined else None


class PreparedFor:
    """A prepared queryset whose first argument is a user.

    An ADMIN, and whom a scoped token confines to a trip, have statements of their own.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any]]) -> None:
        self._build = build
        self._kinds: dict[tuple[bool, bool], Prepared] = {}

    def __call__(self, user: User, **values: Any) -> Found:
        """The rows for this user; see `Prepared`."""
        kind = (user.is_admin, user.confined_to is not None)
        if kind not in self._kinds:
            self._kinds[kind] = Prepared(partial(self._build, Viewer(*kind)))
        return self._kinds[kind](viewer=user.pk, confined_to=user.confined_to, **values)


class InTripQuerySet(models.QuerySet[Row]):
    """Rows that belong to a trip, and who may see them."""

    #: How to get from a row to the memberships of its trip.
    members_path = "trip__members"

    def of_member(self, user: User | Viewer) -> Self:
        """Rows of the trips that `user` is a member of, with their role as `caller_role`."""
        path = self.members_path
        return (
            self.within(user)
            .filter(**{f"{path}__user": user, f"{path}__left_at": None})
            .annotate(caller_role=F(f"{path}__role"))
        )

    def within(self, user: User | Viewer) -> Self:
        """Rows of the one trip that a scoped token confines `user` to; all without such a token."""
        if user.confined_to is None:
            return self
        trip_path = self.members_path.rpartition("__")[0] or "pk"
        return self.filter(**{trip_path: user.confined_to})

    def visible_to(self, user: User | Viewer) -> Self:
        """Rows that `user` may see, with `caller_role`; an ADMIN sees all, as an OWNER would."""
        if user.is_admin:
            return self.annotate(caller_role=Value(TripRole.OWNER.value))
        return self.of_member(user)


@cache
def _visible(rows: Callable[[], InTripQuerySet[Any]], names: tuple[str, ...]) -> PreparedFor:
    lookup = {name: Given(name) for name in names}
    return PreparedFor(lambda user: rows().visible_to(user).filter(**lookup))


def visible_row(rows: Callable[[], InTripQuerySet[Row]], user: User, **lookup: int) -> Row:
    """The one row of `rows()` that `lookup` names, with `caller_role`; see `visible_to`.

    `rows` is a method of a manager, such as `Trip.objects.all`. Raises `NotFound` for what is not
    there and for what `user` may not see.
    """
    return _visible(rows, tuple(lookup))(user, **lookup).get()


class TripQuerySet(InTripQuerySet["Trip"]):
    members_path = "members"

    def with_code(self, code: str) -> "TripQuerySet":
        """The trip that a code leads to, in any case of letters, or none."""
        return self.filter(code=code.upper()) if code.isascii() and code.isalnum() else self.none()

    def locked(self, trip_id: int) -> "Trip":
        """The trip, its row locked until the transaction ends; `Http404`-like if it is gone.

        The one lock of the service: with it held, members and money of the trip stand still.
        """
        # A kept statement is not asked by Django whether it is inside a transaction.
        if not transaction.get_connection().in_atomic_block:
            raise transaction.TransactionManagementError("A lock needs a transaction.")
        return _locking(pk=trip_id).get()


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
        with transaction.atomic():
            User.objects.active().locked(owner.pk)
            _require_room_for_a_trip(owner)
            trip = cls(**fields)
            trip._save_with_new_code()
            trip.members.create(user=owner, role=TripRole.OWNER)
        trip.caller_role = TripRole.OWNER
        return trip

    def change(self, **fields: Any) -> None:
        """Store the given fields only.

        Raises `ValidationError` if the trip would end before it starts, `CurrencyFixed` if the
        currency would change under recorded money.
        """
        with transaction.atomic():
            stored = Trip.objects.locked(self.pk)
            _require_order(
                fields.get("start_date", stored.start_date), fields.get("end_date", stored.end_date)
            )
            if fields.get("currency", stored.currency) != stored.currency and stored.has_entries:
                raise CurrencyFixed(currency=stored.currency)
            for name, value in fields.items():
                setattr(self, name, value)
            self.updated_at = timezone.now()
            self.save(update_fields=[*fields, "updated_at"])

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

    def remove(self) -> None:
        """Delete the trip with all that is in it. Not undone."""
        with transaction.atomic():
            Trip.objects.locked(self.pk)
            delete_unread(Trip.objects.filter(pk=self.pk))

    def renew_code(self) -> None:
        """A new code; the old one is dead from now on."""
        self.updated_at = timezone.now()
        self.code = new_code()
        self._save_with_new_code(update_fields=["code", "updated_at"])

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

    def require_members(self, named: Mapping[str, Iterable[int]]) -> None:
        """Raise `ValidationError` on each field of `named` that names somebody else than a member.

        `named` maps field names to user ids.
        """
        present = {user_id for (user_id,) in _present(trip=self.pk)}
        errors = {}
        for field, user_ids in named.items():
            strangers = [str(user_id) for user_id in user_ids if user_id not in present]
            if strangers:
                errors[field] = [
                    _("Not a member of the trip: %(ids)s.") % {"ids": ", ".join(strangers)}
                ]
        if errors:
            raise ValidationError(errors)

    def add_member(
        self, *, by_role: str, role: str, user_id: int | None = None, email: str = ""
    ) -> "Member":
        """Make somebody a member, named by id or by address.

        Raises `PermissionDenied` if `role` is above `by_role`, `UserNotFound`, and `AlreadyMember`.
        """
        if not may_grant(by_role, role):
            raise PermissionDenied(_("You cannot give a role above your own."))
        found = (
            User.objects.with_email(email)
            if user_id is None
            else User.objects.filter(pk=user_id, deleted_at=None, is_active=True)
        )
        user = found.first()
        if user is None:
            raise UserNotFound
        return self.admit(user, role)

    def join(self, user: User) -> "Member":
        """Make `user`, who knows the code, a member. Raises `EmailUnverified`, `AlreadyMember`."""
        user.require_verified_email()
        return self.admit(user, self.join_role)

    def admit(self, user: User, role: str) -> "Member":
        """Make `user` a member, also again.

        Raises `AlreadyMember`, and `LimitReached` above `QUOTA_MEMBERS` or `QUOTA_TRIPS`.
        """
        with transaction.atomic():
            # The account before the trip, as in `close_account`: an order without a deadlock.
            User.objects.active().locked(user.pk)
            Trip.objects.locked(self.pk)
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


@Prepared
def _locking(pk: Given) -> TripQuerySet:
    return Trip.objects.select_for_update().filter(pk=pk)


@PreparedUpdate
def _note_counts(
    pk: Given,
    recorded: Given,
    that_day: Given,
    day: Given = Given("day", models.DateField()),
) -> tuple[TripQuerySet, dict[str, Any]]:
    counts = {"expenses_recorded": recorded, "expenses_that_day": that_day, "counted_on": day}
    return Trip.objects.filter(pk=pk), counts


@Prepared
def _present(trip: Given) -> models.QuerySet["Trip", tuple[int]]:
    """The user ids of the present members."""
    rows = Trip.objects.filter(pk=trip, members__left_at=None)
    return rows.values_list("members__user")


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
