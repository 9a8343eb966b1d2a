"""Trips, and the lock under which everything in them changes.

A trip is small, and its invariants involve no other trip, so one lock is enough: the trip's row.
What was true before a command got the lock may be false now: the caller may have been removed or
demoted, the expense may have other payers, the currency may have changed. So every command starts
with `locked_trip` or `locked_row`. They take the lock, read caller, role, ownership and currency
again, and check the table of roles.

A deleted trip is kept, out of every sum and list, until it is restored or `prune` ends it. It has
no present members, so every check of membership fails: its members left at the very instant at
which it was deleted. Restoring it brings back exactly these members.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache, partial, reduce
from typing import Any, ClassVar, TypeVar

from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import Exists, F, Q, QuerySet, Value
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied, ValidationError

from tripcompanion.api.problems import LimitReached
from tripcompanion.compiled import CompiledQuery, CompiledUpdate, Param
from tripcompanion.currency.amounts import CODES, Amount, minor_units, to_major
from tripcompanion.database.deletes import delete_unread
from tripcompanion.observability.instruments import TRIP_LOCK_WAIT
from tripcompanion.plugin import TripFilter, plugins
from trips.models.category import budgets_text, load_budgets
from trips.models.client_ids import ClientNamed
from trips.models.conflicts import CurrencyChanged, CurrencyFixed, NoOwner, NotRestorable
from trips.models.default_division import (
    division_text,
    load_division,
    people_in_division,
    renamed_division,
)
from trips.models.events import Event
from trips.models.joining import CODE_CHARS, new_code, require_trip_quota, require_trip_quotas
from trips.models.journal import Entry, entries_between, plain_values, write
from trips.models.visibility import (
    CompiledForViewer,
    InTripQuerySet,
    ViewerParam,
    get_visible_or_404,
)
from trips.roles import (
    CREATOR_ROLE,
    DEFAULT_ROLE,
    JOIN_ROLE_CHOICES,
    MAX_ROLE_LENGTH,
    OWNER_ROLES,
    Can,
    Capability,
    may,
)
from trips.signals import author_replaced, person_replaced, trip_changed
from users.models import Mail, ScopedToken, User, summary_of
from users.models.token import InsufficientScope
from users.models.user import Access

logger = logging.getLogger(__name__)

Row = TypeVar("Row", bound=models.Model)

#: How many trips are looked up at a time to be purged.
BATCH_TRIPS = 100
_CODE_ATTEMPTS = 5


class TripQuerySet(InTripQuerySet["Trip"]):
    members_path = "members"

    def restorable(self) -> "TripQuerySet":
        """Deleted trips that can still be restored."""
        return self.filter(deleted_at__gt=_oldest_deletion())

    def outdated(self) -> "TripQuerySet":
        """Deleted trips that cannot be restored any more."""
        return self.filter(deleted_at__lte=_oldest_deletion())

    def restorable_to(self, user: User) -> "TripQuerySet":
        """Deleted trips that `user` may see, with the `caller_role` from the time of deletion.

        An ADMIN sees all of them, as an OWNER.
        """
        rows: Any = self.restorable().in_token_scope(user)
        if user.is_admin:
            return rows.annotate(caller_role=Value(CREATOR_ROLE.value))
        then = rows.filter(members__user=user, members__left_at=F("deleted_at"))
        return then.annotate(caller_role=F("members__role"))

    def deleted_of(self, user: User) -> "TripQuerySet":
        """Deleted trips that `user` owned and can restore, last deleted first."""
        owned = {"members__user": user, "members__role__in": OWNER_ROLES}
        rows: Any = self.restorable().in_token_scope(user)
        then = rows.filter(members__left_at=F("deleted_at"), **owned)
        return then.annotate(caller_role=F("members__role")).order_by("-deleted_at", "-id")

    def purge(self) -> int:
        """Delete these trips and everything in them with their guests; return how many.

        Each is deleted in a transaction of its own. Trips that somebody else has locked are
        skipped, and so are those of which a plugin that is left out has rows. Their journals stay
        until `prune` deletes them.
        """
        purged = 0
        skipped: list[int] = []
        while pks := list(
            self.exclude(pk__in=skipped)
            .order_by("deleted_at")
            .values_list("pk", flat=True)[:BATCH_TRIPS]
        ):
            skipped += [pk for pk in pks if not self._purge_one(pk)]
            purged += len(pks)
        return purged - len(skipped)

    def _purge_one(self, trip_id: int) -> bool:
        """Delete this trip for good; False if it has to stay, is locked or was restored."""
        try:
            return self._purge_locked(trip_id)
        except IntegrityError as error:
            logger.warning("Trip %d stays: another table has rows of it (%s)", trip_id, error)
            return False

    def _purge_locked(self, trip_id: int) -> bool:
        with transaction.atomic():
            rows = self.filter(pk=trip_id).select_for_update(skip_locked=True)
            trip = rows.first()
            if trip is None:
                return False
            guests = trip.members.filter(user__is_guest=True)
            guest_ids = list(guests.values_list("user", flat=True))
            Mail.objects.filter(trip_id=trip_id).delete()
            ScopedToken.objects.filter(trip_id=trip_id).delete()
            delete_unread(Trip.objects.filter(pk=trip_id))
            if guest_ids:
                User.objects.filter(pk__in=guest_ids).delete()
            return True


class Trip(ClientNamed):
    """A trip, with its members and expenses; its ledger is in one currency."""

    code = models.CharField(
        gettext_lazy("trip code"), max_length=CODE_CHARS, unique=True, default=new_code
    )
    join_role = models.CharField(
        gettext_lazy("role of those who join"),
        max_length=MAX_ROLE_LENGTH,
        choices=JOIN_ROLE_CHOICES,
        default=DEFAULT_ROLE,
    )
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
    #: JSON, see `default_division.py`; null if each expense has to say how it is divided.
    stored_default_division = models.TextField(  # noqa: DJ001 -- "" is no JSON
        null=True, default=None, editable=False
    )
    #: JSON, see `category.py`; null if no category has a budget.
    stored_category_budgets = models.TextField(  # noqa: DJ001 -- "" is no JSON
        null=True, default=None, editable=False
    )
    #: How many expenses were ever recorded; it decides who gets the remaining minor units.
    expenses_recorded = models.PositiveIntegerField(default=0, editable=False)
    #: How many expenses were recorded on `counted_on`, the day of the last one (UTC).
    expenses_that_day = models.PositiveIntegerField(default=0, editable=False)
    counted_on = models.DateField(null=True, editable=False)
    #: As `Expense.merged_guests`, for all expenses: what an import found, and claims under 1.0.0.
    claimed_guests = models.TextField(default="", db_default="", editable=False)
    #: `prune` ends a trip `DELETED_TRIP_DAYS` after its deletion.
    deleted_at = models.DateTimeField(gettext_lazy("deleted at"), null=True, editable=False)
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
        _store_budgets(fields, fields["currency"])
        _require_default_division(fields, None, {owner.pk})
        with transaction.atomic():
            User.objects.active().locked(owner.pk)
            require_trip_quota(owner)
            trip = cls(**fields)
            trip._save_with_new_code()
            trip.members.create(user=owner, role=CREATOR_ROLE)
            joined = Entry(Event.MEMBER_JOINED, owner.pk, {"role": (None, CREATOR_ROLE)})
            created = entries_between(Event.TRIP_CREATED, trip.pk, {}, _fields_of(trip))
            write(trip.pk, owner, *created, joined)
        trip.caller_role = CREATOR_ROLE
        return trip

    def change(self, by: User, options: Mapping[str, Any] | None = None, **fields: Any) -> None:
        """Store the given fields only. `budget` and each of `category_budgets` are an `Amount`.

        `options` are for other apps, see `Plugin.trip_options`. With a new currency, stored budgets
        keep their numbers. Raises `ValidationError` if the trip ends before it starts,
        `CurrencyFixed` if the currency changes but the trip has entries, and `CurrencyChanged` if
        the budget is in another currency.
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
            if is_new_currency and trip.category_budgets:
                budgets = {k: Amount(v, currency) for k, v in trip.category_budgets.items()}
                fields.setdefault("category_budgets", budgets)
            _store_budgets(fields, currency)
            _require_default_division(fields, trip.default_division, trip.present_roles)
            old = _fields_of(trip)
            for name, value in fields.items():
                setattr(trip, name, value)
            changed = entries_between(Event.TRIP_CHANGED, trip.pk, old, _fields_of(trip))
            if changed:
                trip.updated_at = timezone.now()
                trip.save(update_fields=[*fields, "updated_at"])
                write(trip.pk, by, *changed)
                trip_changed.send(Trip, trip=trip, by=by, old=old, options=options or {})

    def remove(self, by: User) -> None:
        """Delete the trip with everything in it. Pending notices about it are not sent."""
        with locked_trip(self.pk, by, Can.MANAGE_TRIP) as trip:
            write(trip.pk, by, Entry(Event.TRIP_DELETED, trip.pk, {"title": (trip.title, None)}))
            trip.deleted_at = timezone.now()
            trip.save(update_fields=["deleted_at"])
            trip.members.present().update(left_at=trip.deleted_at)
            Mail.objects.filter(trip_id=trip.pk, object_id=None).delete()

    def restore(self, by: User) -> None:
        """Undo the deletion that this instance was read with.

        Those who were members then are members again, unless they deleted their account. Raises
        `NotFound` if the deletion was undone or is final, and `NotRestorable` if none of the trip's
        owners can log in, or a member who had answered would have more than `QUOTA_TRIPS` trips.
        """
        with transaction.atomic():
            then = self.members.filter(left_at=self.deleted_at)
            # Accounts are locked before trips. Nobody can join a deleted trip meanwhile.
            User.objects.lock(then.values_list("user", flat=True))
            rows = Trip.objects.restorable().filter(pk=self.pk, deleted_at=self.deleted_at)
            trip = _measured(rows.select_for_update().first)
            caller, access = _as_of_now(by)
            members = _with_accounts(caller.pk).filter(trip=trip, left_at=trip.deleted_at)
            _judge(trip, caller, access, members)
            _require(trip.caller_role, Can.MANAGE_TRIP, lambda: False)
            if not then.filter(role__in=OWNER_ROLES, user__is_active=True).exists():
                raise NotRestorable(reason=_("None of its owners can log in any more."))
            require_trip_quotas(then.filter(introduced_by=None))
            trip.deleted_at = None
            trip.save(update_fields=["deleted_at"])
            then.update(left_at=None)
            write(trip.pk, by, Entry(Event.TRIP_RESTORED, trip.pk, {"title": (None, trip.title)}))

    def renew_code(self, by: User) -> None:
        """Replace the code of the trip; the old one becomes invalid."""
        with locked_trip(self.pk, by, Can.MANAGE_TRIP) as trip:
            old_code, trip.code = trip.code, new_code()
            trip.updated_at = timezone.now()
            trip._save_with_new_code(update_fields=["code", "updated_at"])
            renewed = {"tripCode": (old_code, trip.code)}
            write(trip.pk, by, Entry(Event.CODE_RENEWED, trip.pk, renewed))

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

    def require_owner_besides(self, role: str) -> None:
        """Raise `NoOwner` if somebody with `role` would be in a trip without an owner.

        A trip loses its last owner when the only member with an account deletes it. Call it under
        the lock.
        """
        if role not in OWNER_ROLES and not self.members.owners().exists():
            raise NoOwner

    def replace_person(self, user_id: int, to: int, role: str, *, is_author: bool = False) -> None:
        """Put `to` in the place of a member, in all entries and sums. Call it under the lock.

        Nobody's amounts change: `to` also gets the odd cents that the member would have got. What
        the member wrote stays theirs if they are its author; otherwise it came with a file.
        """
        person_replaced.send(Trip, trip=self, user_id=user_id, to=to)
        if not is_author:
            author_replaced.send(Trip, trip=self, user_id=user_id, to=to)
        place = self.members.filter(user=user_id)
        place.update(user=to, role=role, joined_at=timezone.now(), introduced_by=None)

    @property
    def default_division(self) -> dict[str, Any] | None:
        """How an expense that names no division is divided, as the API shows it."""
        return load_division(self.stored_default_division)

    @property
    def category_budgets(self) -> dict[str, Decimal] | None:
        """The budgets by category, in major units, as the API shows them."""
        return load_budgets(self.stored_category_budgets)

    def rename_in_default_division(self, user_id: int, to: int) -> None:
        """Put another person in the place of one. Call it under the trip's lock."""
        shown = self.default_division
        if user_id in people_in_division(shown):
            renamed = renamed_division(shown or {}, {user_id: to})
            self.stored_default_division = division_text(renamed)
            self.save(update_fields=["stored_default_division"])

    @property
    def has_entries(self) -> bool:
        return self.expenses.exists() or self.settlements.exists()

    def count_expense(self, how_many: int = 1) -> None:
        """Count recorded expenses under the trip's lock. Raises as `require_expense_quota` does."""
        today = self.require_expense_quota(how_many)
        self.expenses_that_day += how_many
        self.expenses_recorded += how_many
        _note_counts(
            pk=self.pk, recorded=self.expenses_recorded, that_day=self.expenses_that_day, day=today
        )

    def require_expense_quota(self, how_many: int) -> date:
        """Raise `LimitReached` if so many expenses are too many today (UTC); returns the day."""
        today = timezone.now().date()
        if self.counted_on != today:
            self.counted_on, self.expenses_that_day = today, 0
        if self.expenses_that_day + how_many > settings.QUOTA_EXPENSES:
            raise LimitReached(limit=settings.QUOTA_EXPENSES)
        return today

    @cached_property
    def present_roles(self) -> Mapping[int, str]:
        """The roles of the present members by user id; `locked_trip` sets it."""
        return dict(self.members.filter(left_at=None).values_list("user", "role"))

    def minor_units(self, field: str, amount: Amount, *, signed: bool = False) -> int:
        """Minor units of an entered amount, rounded half up. Call it under the trip's lock.

        Raises `CurrencyChanged` if the amount is not in the trip's currency, and `ValidationError`
        on `field` if it rounds to zero or, unless it is `signed`, below.
        """
        self.require_currency(amount.currency)
        return minor_units(field, amount.value, self.currency, signed=signed)

    def require_currency(self, meant: str) -> None:
        """Raise `CurrencyChanged` if the trip's currency is not `meant`."""
        if meant != self.currency:
            raise CurrencyChanged(meant=meant, currency=self.currency)

    def require_members(self, named: Mapping[str, Iterable[int]]) -> None:
        """Raise `ValidationError` on each field of `named` with a user who is not a member."""
        _require_among(self.present_roles, named)


def trip_key(related_name: str, **options: Any) -> "models.ForeignKey[Trip, Trip]":
    """The column of the trip in rows that are deleted with it."""
    return models.ForeignKey(
        Trip,
        on_delete=models.CASCADE,
        related_name=related_name,
        verbose_name=gettext_lazy("trip"),
        **options,
    )


@contextmanager
def locked_trip(
    trip_id: int, by: User, can: Capability, is_own: Callable[[Trip], bool] = lambda _trip: False
) -> Iterator[Trip]:
    """Open a transaction, lock the trip, and yield it for a command of `by` that needs `can`.

    `is_own` returns whether the object of the command is the caller's own; it is called only if
    the access of their role is own. The trip has `caller_role`, `present_roles` and
    `present_people`.

    Raises `NotFound` if the trip does not exist or the caller is not a member, `PermissionDenied`
    if their role does not cover `can`, and `NotAuthenticated` if their account was deactivated.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller, access = _as_of_now(by)
        _judge(trip, caller, access, _present_members.fetch(trip=trip_id, caller=caller.pk))
        _require(trip.caller_role, can, lambda: is_own(trip))
        yield trip


@contextmanager
def locked_row(
    rows: Callable[[], InTripQuerySet[Row]],
    by: User,
    can: Capability,
    *,
    trip_id: int,
    **lookup: int,
) -> Iterator[Row]:
    """Like `locked_trip`, but yield the row of `rows()` in the trip that matches `lookup`.

    The row is read under the lock and refers to the locked trip. Its `is_own` decides ownership.
    Raises what `locked_trip` raises, and `NotFound` if the row does not exist.
    """
    with transaction.atomic():
        trip = lock_trip(trip_id)
        caller, _access = _as_of_now(by)
        row: Any = get_visible_or_404(rows, caller, asks_account=True, **lookup)
        if not row.caller_is_active:
            raise NotAuthenticated
        reduce(getattr, _path_to_parent(rows), row).trip = trip
        _require(row.caller_role, can, lambda: row.is_own(caller, can))
        yield row


def lock_trip(trip_id: int) -> Trip:
    """Lock the trip until the transaction ends, and return it; raises `NotFound`.

    It checks nothing else. Use it only in the two context managers above, for admitting members,
    for comparing `If-Match` and for what the service records by itself.
    """
    # For a compiled statement, Django does not check that it runs inside a transaction.
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("A lock needs a transaction.")
    return _measured(partial(_locking.first, pk=trip_id))


@TRIP_LOCK_WAIT.time()
def _measured(lock: Callable[[], Trip | None]) -> Trip:
    """The trip that `lock` has locked; raises `NotFound` if there is none."""
    trip = lock()
    if trip is None:
        raise NotFound
    return trip


@cache
def _path_to_parent(rows: Callable[[], InTripQuerySet[Row]]) -> list[str]:
    """The attributes that lead from a row of `rows()` to the row that refers to its trip."""
    *parents, _trip, _members = rows().members_path.split("__")
    return parents


def _judge(trip: Trip, caller: User, access: Access, members: Iterable[Any]) -> None:
    """Set the people and roles of the locked trip by its `members`; see `_with_accounts`."""
    roles, people = {}, {}
    for member in members:
        roles[member.user_id], people[member.user_id] = member.role, member.user
        if not member.caller_is_active:
            raise NotAuthenticated
    is_admin, confined_to = access
    own_role = CREATOR_ROLE if is_admin else roles.get(caller.pk)
    if own_role is None or confined_to not in {None, trip.pk}:
        raise NotFound
    trip.caller_role, trip.present_roles, trip.present_people = own_role, roles, people


def _require(role: str, can: Capability, is_own: Callable[[], bool]) -> None:
    if not may(role, can, is_own):
        raise PermissionDenied


def _as_of_now(by: User) -> tuple[User, Access]:
    """The caller with their `access`, read again for an ADMIN, who may have lost that role."""
    access = by.access
    is_admin, _confined_to = access
    if not is_admin:
        return by, access
    caller = User.objects.active().filter(pk=by.pk).first()
    if caller is None:
        raise NotAuthenticated
    return caller, caller.access


@CompiledQuery
def _locking(pk: Param) -> QuerySet[Trip]:
    # Whoever waits for the lock while the trip is deleted finds no trip.
    return Trip.objects.select_for_update().filter(pk=pk, deleted_at=None)


@CompiledQuery
def _present_members(trip: Param, caller: Param) -> QuerySet[Any]:
    return _with_accounts(caller).filter(trip=trip, left_at=None)


def _with_accounts(caller: Param | int) -> QuerySet[Any]:
    """Members with what responses contain of their accounts, and with `caller_is_active`."""
    columns = ("trip", "user", "role", "user__notice_mode", *summary_of("user"))
    active = {"caller_is_active": Exists(User.objects.active().filter(pk=caller))}
    # Members refer to trips, so this module cannot import them.
    members: QuerySet[Any] = apps.get_model("trips", "Member").objects.order_by()
    return members.select_related("user").only(*columns).annotate(**active)


@CompiledUpdate
def _note_counts(
    pk: Param, recorded: Param, that_day: Param, day: Param = Param("day", models.DateField())
) -> tuple[TripQuerySet, dict[str, Any]]:
    counts = {"expenses_recorded": recorded, "expenses_that_day": that_day, "counted_on": day}
    return Trip.objects.filter(pk=pk), counts


@cache
def trip_filters() -> Mapping[str, TripFilter]:
    """See `Plugin.trip_filters`."""
    return {name: each for app in plugins() for name, each in app.trip_filters().items()}


def chosen_trips(user: Any, *, deleted: bool = False, **chosen: Any) -> TripQuerySet:
    """The trips of a member, latest start date first, or deleted ones, by `trip_filters`."""
    of_member = Trip.objects.of_member(user).order_by("-start_date", "-id")
    rows = Trip.objects.deleted_of(user) if deleted else of_member
    for name, each in trip_filters().items():
        # What is archived is left out of the others only.
        if name in chosen or not deleted:
            rows = each.rows(rows, user, chosen.get(name))
    return rows


@CompiledForViewer
def trips_of(user: ViewerParam) -> TripQuerySet:
    """The list of trips of a user who chose no others."""
    return chosen_trips(user)


def _require_order(start: date, end: date) -> None:
    if end < start:
        raise ValidationError({"endDate": [_("Must not be before the start date.")]})


def _store_budgets(fields: dict[str, Any], currency: str) -> None:
    """Put the columns of entered budgets in their place. Raises as `Trip.change` does."""
    if "budget" in fields:
        budget = fields.pop("budget")
        fields["budget_minor"] = (
            None if budget is None else minor_units("budget", _value(budget, currency), currency)
        )
    if "category_budgets" in fields:
        budgets = fields.pop("category_budgets") or {}
        values = {category: _value(budget, currency) for category, budget in budgets.items()}
        fields["stored_category_budgets"] = budgets_text(values, currency)


def _value(budget: Amount, currency: str) -> Decimal:
    if budget.currency != currency:
        raise CurrencyChanged(meant=budget.currency, currency=currency)
    return budget.value


def _require_default_division(
    fields: Mapping[str, Any], stored: dict[str, Any] | None, present: Collection[int]
) -> None:
    """Raise `ValidationError` if a new default division names somebody who is not present.

    What it had before may stay.
    """
    named = people_in_division(load_division(fields.get("stored_default_division")))
    known = {*present, *people_in_division(stored)}
    _require_among(known, {"defaultDivision.participantUserIds": named})


def _require_among(known: Collection[int], named: Mapping[str, Iterable[int]]) -> None:
    """Raise `ValidationError` on each field of `named` with a user who is not `known`."""
    errors = {}
    for field, user_ids in named.items():
        if strangers := [str(user_id) for user_id in user_ids if user_id not in known]:
            ids = {"ids": ", ".join(strangers)}
            errors[field] = [_("Not a member of the trip: %(ids)s.") % ids]
    if errors:
        raise ValidationError(errors)


def _fields_of(trip: Trip) -> dict[str, Any]:
    """The fields of a trip that people enter, and its code."""
    budget_minor = trip.budget_minor
    return {
        **plain_values(trip),
        "budget": None if budget_minor is None else to_major(budget_minor, trip.currency),
        "tripCode": trip.code,
        "defaultDivision": trip.default_division,
        "categoryBudgets": trip.category_budgets,
    }


def _oldest_deletion() -> datetime:
    """The earliest time of deletion after which trips can still be restored."""
    return timezone.now() - timedelta(days=settings.DELETED_TRIP_DAYS)
