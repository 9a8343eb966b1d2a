"""Members of a trip, with the sums of their ledger entries."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cache, partial
from typing import Any, ClassVar, Self
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Case, Exists, F, Prefetch, ProtectedError, Q, When
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError

from tripcompanion.api.problems import LimitReached
from tripcompanion.api.serializers import MAX_INTEGER
from tripcompanion.compiled import CompiledQuery, Param, fetch_all
from tripcompanion.plugin import plugins
from trips.models.client_ids import ClientNamed
from trips.models.conflicts import (
    AlreadyMember,
    BalanceOpen,
    GuestIsViewer,
    InviteInstead,
    LastOwner,
    UserNotFound,
)
from trips.models.events import Event
from trips.models.joining import require_trip_quota
from trips.models.journal import Changes, Entry, JournalEntry, entries_between, write
from trips.models.trip import Trip, TripQuerySet, locked_row, locked_trip, trip_key
from trips.models.visibility import InTripQuerySet
from trips.roles import (
    CREATOR_ROLE,
    DEFAULT_ROLE,
    MAX_ROLE_LENGTH,
    OWNER_ROLES,
    Can,
    Capability,
    TripRole,
    may_grant,
)
from trips.signals import happened, person_sought
from users.models import User, Via, address_check, summary_of

#: The sums that make up a member's balance.
SUMS = ("paid_minor", "share_minor", "sent_minor", "received_minor")
#: All sums of a membership: those of the balance, and the unpaid part of the debts.
KEPT_SUMS = (*SUMS, "owed_minor")
#: Raw SQL, because the ORM takes milliseconds to build a CASE with so many branches.
_INCREMENT = (
    "UPDATE trips_member SET "  # noqa: S608 -- names of columns only
    + ", ".join(f"{name} = trips_member.{name} + change.{name}" for name in KEPT_SUMS)
    + " FROM {changes} WHERE trips_member.user_id = change.user_id AND trips_member.trip_id = %s"
    # A difference of two sums fits into 64 bits, but their sum may not.
    " RETURNING trips_member.paid_minor - trips_member.share_minor"
    " <> trips_member.received_minor - trips_member.sent_minor"
)
_NAMES = ("user_id", *KEPT_SUMS)
#: The changes are one JSON array, so one statement changes any number of members.
_CHANGES = {
    "postgresql": "json_to_recordset(%s::json) AS change({})".format(
        ", ".join(f"{name} bigint" for name in _NAMES)
    ),
    "sqlite": "(SELECT {} FROM json_each(%s)) AS change".format(  # noqa: S608 -- as above
        ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in _NAMES)
    ),
}
_COLUMNS = ("trip", "client_id", "user", "role", "joined_at", "left_at")


class MemberQuerySet(InTripQuerySet["Member"]):
    def present(self) -> "MemberQuerySet":
        """Members who have not left."""
        return self.filter(left_at=None)

    def owners(self) -> "MemberQuerySet":
        """Present OWNERs who can log in; deactivated accounts do not count as owners."""
        return self.present().filter(role__in=OWNER_ROLES, user__is_active=True)

    def present_or_restorable(self) -> "MemberQuerySet":
        """Present members, and those who would be again if their deleted trip were restored."""
        return self.filter(Q(left_at=None) | Q(left_at=F("trip__deleted_at")))

    def with_details(self) -> "MemberQuerySet":
        """Present members and their users, with only the columns that are serialized."""
        return self.present().select_related("user").only(*_COLUMNS, *summary_of("user"))

    def with_user(self) -> "MemberQuerySet":
        return self.present().select_related("user")

    def guests(self) -> "MemberQuerySet":
        """Present members without an account, with only the columns that are serialized."""
        return self.with_details().filter(user__is_guest=True)

    def unsettled(self) -> "MemberQuerySet":
        """Present and former members whose balance is not zero."""
        # A difference of two sums fits into 64 bits, but their sum may not.
        rows = self.alias(put_in_minor=F("paid_minor") - F("share_minor"))
        return rows.exclude(put_in_minor=F("received_minor") - F("sent_minor"))

    def known_to(self, reader: User) -> "MemberQuerySet":
        """Those who have answered, or whose address `reader` entered when adding them."""
        return self.filter(Q(introduced_by=None) | Q(introduced_by=reader.pk))

    def unanswered_by(self, user: User) -> "MemberQuerySet":
        """Where somebody added `user`, who has neither read nor written there since."""
        return self.present().filter(user=user, introduced_by__isnull=False)

    def sharing_a_trip_with(self, user: User) -> "MemberQuerySet":
        """Present members of the trips that `user` is a member of, as far as a token reaches."""
        own = Member.objects.present().filter(user=user)
        # `confined_to`, without a call: this runs for every response with people.
        if user.by_token and user.by_token.trip_id:
            own = own.filter(trip=user.by_token.trip_id)
        return self.present().filter(trip__in=own.values("trip"))


class Member(ClientNamed):
    """The membership of a user in a trip, with a role and the sums of their ledger entries.

    The row stays after the member has left (`left_at`), because the sums are still needed. All sums
    are in minor units of the trip's currency and change in the transaction of the entry. When a
    trip is deleted, its present members leave at that very instant.
    """

    trip = trip_key("members", db_index=False)
    user = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        related_name="memberships",
        verbose_name=gettext_lazy("user"),
    )
    role = models.CharField(
        gettext_lazy("role"), max_length=MAX_ROLE_LENGTH, choices=TripRole, default=DEFAULT_ROLE
    )
    joined_at = models.DateTimeField(gettext_lazy("joined at"), default=timezone.now)
    #: Null once the account has answered: it has read or written in the trip, or joined by itself.
    #: Otherwise the user who added it, if they entered its address, or 0.
    introduced_by = models.BigIntegerField(null=True, editable=False)
    left_at = models.DateTimeField(gettext_lazy("left at"), null=True, blank=True, editable=False)
    paid_minor = models.BigIntegerField(default=0, editable=False)
    share_minor = models.BigIntegerField(default=0, editable=False)
    sent_minor = models.BigIntegerField(default=0, editable=False)
    received_minor = models.BigIntegerField(default=0, editable=False)
    #: The unpaid part of this member's debts in the trip; not part of the balance.
    owed_minor = models.BigIntegerField(default=0, db_default=0, editable=False)

    objects = MemberQuerySet.as_manager()

    caller_role: str
    #: Whether the account of the caller is active; set by the lock of the trip.
    caller_is_active: bool

    class Meta:
        verbose_name = gettext_lazy("member")
        verbose_name_plural = gettext_lazy("members")
        ordering: ClassVar = ["joined_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["trip", "user"], name="member_once_in_trip"),
            # Beyond 64 bits, SQLite would continue in floating point.
            models.CheckConstraint(
                condition=Q(
                    paid_minor__lte=MAX_INTEGER,
                    share_minor__lte=MAX_INTEGER,
                    sent_minor__lte=MAX_INTEGER,
                    received_minor__lte=MAX_INTEGER,
                ),
                name="member_sums_in_64_bits",
            ),
            models.CheckConstraint(
                condition=Q(paid_minor__gte=-MAX_INTEGER, share_minor__gte=-MAX_INTEGER),
                name="member_negative_sums_in_64_bits",
            ),
            models.CheckConstraint(
                condition=Q(owed_minor__gte=0, owed_minor__lte=MAX_INTEGER),
                name="member_owed_in_range",
            ),
            models.CheckConstraint(condition=Q(role__in=TripRole.values), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user.shown_name} ({self.get_role_display()})"

    @property
    def balance_minor(self) -> int:
        """What the member is owed (positive) or owes (negative)."""
        return self.paid_minor - self.share_minor + self.sent_minor - self.received_minor

    @classmethod
    def add(
        cls, trip: Trip, by: User, *, role: str, user_id: int | None = None, email: str = ""
    ) -> "Member":
        """Add an account to a trip, by its id or address.

        Until they have answered, the trip counts in none of their quotas. Raises `PermissionDenied`
        if `role` is above the caller's own, `UserNotFound`, `InviteInstead`, and what `admit`
        raises.
        """
        found = (
            User.objects.with_email(email)
            if user_id is None
            else User.objects.active().filter(pk=user_id)
        )
        with transaction.atomic():
            user = found.select_for_update(no_key=True).first()
            with locked_trip(trip.pk, by, Can.ADD_MEMBERS) as locked:
                if not may_grant(locked.caller_role, role):
                    raise PermissionDenied(_("You cannot assign a role above your own."))
                if user is None:
                    raise UserNotFound
                if not user.may_be_added and user.pk not in locked.present_roles:
                    raise InviteInstead
                introducer = by.pk if user_id is None else 0
                member = cls.admit(locked, user, role, by, introduced_by=introducer)
                if user.may_want_notices:
                    people = Q(pk=user.pk)
                    happened.send(cls, event="member.added", people=people, by=by, trip_id=trip.pk)
                return member

    @classmethod
    def admit(
        cls,
        trip: Trip,
        user: User,
        role: str,
        by: User | None,
        *entries: Entry,
        introduced_by: int | None = None,
    ) -> "Member":
        """Add `user` or a former member, without a check of permissions, under both locks.

        Raises `AlreadyMember`, `NoOwner`, and `LimitReached` above `QUOTA_MEMBERS` or
        `QUOTA_TRIPS`. The journal gets `entries`, and then an entry that the user joined, or that
        somebody else (`by`) added them. Lock the account first and then the trip, as in
        `delete_account`, to avoid a deadlock.
        """
        member = trip.members.filter(user=user).first()
        if member is not None and member.left_at is None:
            raise AlreadyMember
        trip.require_owner_besides(role)
        _require_member_quota(trip)
        if introduced_by is None:
            require_trip_quota(user)
        elif not user.is_unanswered:
            User.objects.filter(pk=user.pk).update(is_unanswered=True)
            user.is_unanswered = True
        if member is None:
            member = cls.objects.create(
                trip=trip, user=user, role=role, introduced_by=introduced_by
            )
        else:
            if member.introduced_by is None and introduced_by is not None and by is not None:
                # They had answered before they left, so members could see the address of the
                # account. Whoever adds them again goes on seeing it until they answer.
                introduced_by = by.pk
            member.readmit(role, introduced_by)
        event = Event.MEMBER_JOINED if by == user else Event.MEMBER_ADDED
        write(trip.pk, by, *entries, Entry(event, user.pk, {"role": (None, role)}))
        return member

    @classmethod
    def add_guest(cls, trip: Trip, by: User, name: str, client_id: UUID | None = None) -> "Member":
        """Add somebody without an account. Raises `LimitReached` above `QUOTA_MEMBERS`."""
        with locked_trip(trip.pk, by, Can.ADD_MEMBERS) as locked:
            _require_member_quota(locked)
            guest = User.create_guest(name)
            member = cls.objects.create(
                trip=locked, user=guest, role=DEFAULT_ROLE, client_id=client_id
            )
            changes = {"name": (None, name), "role": (None, DEFAULT_ROLE)}
            write(trip.pk, by, Entry(Event.GUEST_ADDED, guest.pk, changes))
            return member

    @classmethod
    def increment_balances(cls, trip_id: int, changes: Mapping[int, Mapping[str, int]]) -> bool:
        """Increment the sums of several members of a trip in one UPDATE.

        `changes` maps user ids to increments, in minor units, by the name of the sum. Returns
        whether any of these members then has a balance that is not zero.
        """
        if not changes:
            return False
        rows = [
            {"user_id": user_id, **{name: moved.get(name, 0) for name in KEPT_SUMS}}
            for user_id, moved in changes.items()
        ]
        sql = _INCREMENT.format(changes=_CHANGES[connection.vendor])
        found = fetch_all(sql, [orjson.dumps(rows).decode(), trip_id])
        return any(is_unsettled for (is_unsettled,) in found)

    def change_role(self, role: str, by: User) -> None:
        """Change the member's role. Raises `LastOwner` or `GuestIsViewer`."""
        with self._locked(by, Can.MANAGE_MEMBERS) as member:
            if member.user.is_guest and role != DEFAULT_ROLE:
                raise GuestIsViewer
            if role not in OWNER_ROLES:
                member._require_other_owner()
            old, member.role = member.role, role
            self.role = role
            member.save(update_fields=["role"])
            roles = ({"role": old}, {"role": role})
            changed = entries_between(Event.ROLE_CHANGED, member.user_id, *roles)
            write(member.trip_id, by, *changed, *revoked_by_plugins(member.trip_id, member.user_id))

    def readmit(self, role: str, introduced_by: int | None = None) -> None:
        """Let a former member be one again. Call it under the trip's lock.

        If somebody else adds them (`introduced_by`), they have to answer again.
        """
        self.role, self.left_at, self.joined_at = role, None, timezone.now()
        self.introduced_by = introduced_by
        self.save(update_fields=["role", "left_at", "joined_at", "introduced_by"])

    def remove(self, by: User, *, on_behalf: bool = False, can: Can = Can.MANAGE_MEMBERS) -> None:
        """End another member's membership, as `can` allows. Raises `BalanceOpen` or `LastOwner`.

        A guest whom no entry refers to is deleted. Somebody who has not answered leaves a guest, as
        in `leave`; `on_behalf` of them, with any balance, as they could.
        """
        with self._locked(by, can) as member:
            changes = {"role": (member.role, None)}
            if member.user.is_guest:
                # Afterwards, nothing else stores the name.
                changes["name"] = (member.user.name, None)
            removed = Entry(Event.MEMBER_REMOVED, member.user_id, changes)
            as_they_could = on_behalf and member.introduced_by is not None
            ended = member._decline(removed) if as_they_could else [removed, *member._end(by)]
            is_guest = member.user.is_guest
            revoked = revoked_by_plugins(member.trip_id, member.user_id, is_deleted=is_guest)
            write(member.trip_id, by, *ended, *revoked)
            if member.user.is_guest:
                with suppress(ProtectedError), transaction.atomic():
                    member.delete()
                    member.user.delete()

    def leave(self, by: User) -> None:
        """End one's own membership. Raises `BalanceOpen` or `LastOwner`.

        Members who have not answered may leave with any balance, and as the only OWNER unless
        nobody else has an account. If entries name them, a guest of the same name takes their
        place.
        """
        with self._locked(by, Can.LEAVE) as member:
            left = Entry(Event.MEMBER_LEFT, member.user_id, {"role": (member.role, None)})
            if member.introduced_by is not None:
                write(member.trip_id, by, *member._decline(left))
                return
            member._end(by)
            write(member.trip_id, by, left, *revoked_by_plugins(member.trip_id, member.user_id))

    def leave_place_to_guest(self) -> list[Entry]:
        """End the membership of somebody who has not answered; returns the journal entries.

        A new guest of the same name takes their place in all entries. If they are the only OWNER,
        another member becomes one. Call it under the trip's lock.
        """
        left = Entry(Event.MEMBER_LEFT, self.user_id, {"role": (self.role, None)})
        return [*self._hand_over(), left, *self._vacate()]

    def _decline(self, ended: Entry) -> list[Entry]:
        """Like `leave_place_to_guest` for those who can only leave if an OWNER stays."""
        if self._heir() is None:
            self._require_other_owner()
        return [*self._hand_over(), ended, *self._vacate()]

    def _vacate(self) -> list[Entry]:
        """Leave, or leave the place to a guest; returns the journal entries of the guest.

        Sums do not tell whether an entry names somebody who has not answered: a refund may cancel
        an expense, and a part may be zero. Either can change later. Who wrote in the trip before
        they were added again leaves as others do.
        """
        has_answered = self.introduced_by is None
        own = JournalEntry.objects.filter(trip=self.trip_id, by=self.user_id)
        has_written = not has_answered and own.exclude(via=Via.IMPORT).exists()
        sought = {"trip": self.trip, "user_id": self.user_id}
        if (
            has_answered
            or (has_written and not self.balance_minor)
            or not any(is_named for _receiver, is_named in person_sought.send(Member, **sought))
        ):
            self.left_at = timezone.now()
            self.save(update_fields=["left_at"])
            return []
        guest = User.create_guest(self.user.name)
        self.trip.replace_person(self.user_id, guest.pk, DEFAULT_ROLE, is_author=has_written)
        changes: Changes = {
            "name": (None, guest.name),
            "role": (None, DEFAULT_ROLE),
            "userId": (self.user_id, guest.pk),
        }
        return [Entry(Event.GUEST_ADDED, guest.pk, changes)]

    def _hand_over(self) -> list[Entry]:
        """Make another member OWNER if this is the only one; returns the journal entries."""
        if self.role not in OWNER_ROLES or self._other_owners().exists():
            return []
        heir = self._heir()
        if heir is None:
            return []
        changes: Changes = {"role": (heir.role, CREATOR_ROLE.value)}
        heir.role = CREATOR_ROLE
        heir.save(update_fields=["role"])
        return [Entry(Event.ROLE_CHANGED, heir.user_id, changes)]

    def _heir(self) -> "Member | None":
        """The first other member with an account: those who have answered, then by rights."""
        others = Member.objects.present().filter(trip=self.trip_id, user__is_guest=False)
        has_answered = F("introduced_by").asc(nulls_first=True)
        places = (When(role=role, then=place) for place, role in enumerate(TripRole))
        by_rights = Case(*places, default=len(TripRole))
        order = ("-user__is_active", has_answered, by_rights, "joined_at", "id")
        return others.exclude(pk=self.pk).order_by(*order).first()

    def rename_guest(self, name: str, by: User) -> None:
        """Change the name of a guest. Raises `NotFound` if the member has an account."""
        with self._locked(by, Can.ADD_MEMBERS) as member:
            # Guests belong to this trip only, so its lock is enough.
            guests = User.objects.filter(pk=member.user_id, is_guest=True)
            guest = guests.first()
            if guest is None:
                raise NotFound
            names = ({"name": guest.name}, {"name": name})
            guest.rename(name)
            guests.update(name=name, former_names=guest.former_names, updated_at=timezone.now())
            write(member.trip_id, by, *entries_between(Event.GUEST_RENAMED, guest.pk, *names))
            self.user.name = name

    def _end(self, by: User) -> list[Entry]:
        self._require_other_owner()
        if self.balance_minor:
            raise BalanceOpen.shown_to(by, self.balance_minor, self.trip.currency)
        return self._vacate()

    def _locked(self, by: User, can: Capability) -> AbstractContextManager["Member"]:
        # By the user too: the account that claimed a guest meanwhile has the guest's row.
        lookup = {"pk": self.pk, "user_id": self.user_id}
        return locked_row(Member.objects.with_user, by, can, trip_id=self.trip_id, **lookup)

    def _require_other_owner(self) -> None:
        if self.role in OWNER_ROLES and not self._other_owners().exists():
            raise LastOwner

    def _other_owners(self) -> MemberQuerySet:
        return Member.objects.owners().filter(trip=self.trip_id).exclude(pk=self.pk)


def revoked_by_plugins(trip_id: int, user_id: int, *, is_deleted: bool = False) -> list[Entry]:
    """See `Plugin.revoked`."""
    lists = (app.revoked(trip_id, user_id, is_deleted=is_deleted) for app in plugins())
    return [entry for entries in lists for entry in entries]


@CompiledQuery
def members_of(trip: Param) -> MemberQuerySet:
    """The present members of a trip, in the order in which they joined."""
    return Member.objects.with_details().filter(trip=trip)


class _DetailedTrips(TripQuerySet):
    def visible_to(self, user: Any) -> Self:
        """With what plugins show of a trip: `Plugin.trip_fields`."""
        added = ((name, field) for app in plugins() for name, field in app.trip_fields().items())
        values = {name: field.value(user) for name, field in added}
        return super().visible_to(user).annotate(**values)


def trips_with_members() -> TripQuerySet:
    """Trips, each with its members as `present_members`."""
    members = Member.objects.with_details()
    return _DetailedTrips(Trip).prefetch_related(Prefetch("members", members, "present_members"))


def require_membership(user: User, trip_id: int | None) -> None:
    """Raise `ValidationError` on `tripId` if `user` is not a member of that trip."""
    if trip_id is not None and not Trip.objects.of_member(user).filter(pk=trip_id).exists():
        raise ValidationError({"tripId": [_("You are not a member of this trip.")]})


def _sees_address(viewer: User, known: Callable[[], Collection[int]], user_id: int) -> bool:
    """Whether `viewer` may see the address of an account that has not answered everywhere."""
    return viewer.pk == user_id or viewer.is_admin or user_id in known()


def _known_to(viewer: User) -> frozenset[int]:
    """Which of the accounts that have not answered everywhere `viewer` knows the address of."""
    known = Member.objects.sharing_a_trip_with(viewer).known_to(viewer)
    return frozenset(known.filter(user__is_unanswered=True).values_list("user", flat=True))


def show_addresses_to(viewer: User | None) -> None:
    """Make the next responses in this thread for `viewer`; see `User.shown_email`.

    However many people of a response have not answered, one statement finds out whom they know.
    """
    check = partial(_sees_address, viewer, cache(partial(_known_to, viewer))) if viewer else None
    address_check.set(check)


def note_answer(user: User, trip_id: int) -> None:
    """Note that `user` has read or written in a trip to which somebody had added them.

    Memberships that ended without an answer still hide the address: the trip may be restored, and
    its export names those who left.
    """
    unanswered = user.memberships.filter(introduced_by__isnull=False)
    here = unanswered.filter(trip=trip_id)
    if unanswered.exists() and not here.exists():
        return
    with transaction.atomic():
        User.objects.locked(user.pk)
        here.update(introduced_by=None)
        if not unanswered.exists():
            User.objects.filter(pk=user.pk).update(is_unanswered=False)


def with_companionship(
    users: models.QuerySet[User], user_id: int, viewer: User
) -> models.QuerySet[User]:
    """The one of `users` with this id, with `is_companion`: whether `viewer` shares a trip.

    Guests are visible only to their companions and to an ADMIN.
    """
    shared = Member.objects.sharing_a_trip_with(viewer).known_to(viewer).filter(user=user_id)
    annotated = users.filter(pk=user_id).annotate(is_companion=Exists(shared))
    return annotated if viewer.is_admin else annotated.exclude(is_guest=True, is_companion=False)


def _require_member_quota(trip: Trip) -> None:
    LimitReached.require_at_most(settings.QUOTA_MEMBERS, trip.members.present().count() + 1)
