"""Members of a trip, with the sums of their entries."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import ClassVar

from django.db import connection, models
from django.db.models import Exists, F, OuterRef, Prefetch, Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from tripcompanion.kit.currencies import to_major
from tripcompanion.kit.paths import MAX_INTEGER
from tripcompanion.kit.prepared import Given, Prepared
from tripcompanion.kit.problems import Conflict
from trips.models.lock import locked_row
from trips.models.trip import ROLE_CHOICES, Trip, TripQuerySet
from trips.models.visibility import InTripQuerySet
from trips.roles import Can, TripRole
from users.models import User, summary_of

#: What a member's balance is made of.
SUMS = ("paid_minor", "share_minor", "sent_minor", "received_minor")
#: All that is kept on a membership: the balance, and what is open of the debts.
KEPT_SUMS = (*SUMS, "owed_minor")
#: Written by hand: the ORM takes milliseconds for a CASE of so many branches.
_SHIFT = (
    "UPDATE trips_member AS member SET paid_minor = paid_minor + moved.column2, "
    "share_minor = share_minor + moved.column3, sent_minor = sent_minor + moved.column4, "
    "received_minor = received_minor + moved.column5, owed_minor = owed_minor + moved.column6 "
    "FROM (VALUES %s) AS moved WHERE member.user_id = moved.column1 AND member.trip_id = %%s"
)
_COLUMNS = ("trip", "user", "role", "joined_at", "left_at")


class LastOwner(Conflict):
    """409 `last_owner`: a trip always has an owner."""

    default_code = "last_owner"
    default_detail = gettext_lazy("A trip needs an owner, and this is the last one.")


class BalanceOpen(Conflict):
    """409 `balance_open`: who owes or is owed cannot go."""

    default_code = "balance_open"
    default_detail = gettext_lazy(
        "The balance in this trip is %(balance)s %(currency)s; settle it first."
    )
    example_values: ClassVar = {"balance": "-12.50", "currency": "EUR"}


class MemberQuerySet(InTripQuerySet["Member"]):
    def present(self) -> "MemberQuerySet":
        """Members who have not left."""
        return self.filter(left_at=None)

    def shown(self) -> "MemberQuerySet":
        """Present members, each with the person, and no more than an answer shows."""
        return self.present().select_related("user").only(*_COLUMNS, *summary_of("user"))

    def unsettled(self) -> "MemberQuerySet":
        """Members, present or past, whose balance is not zero."""
        return self.exclude(paid_minor=F("share_minor") - F("sent_minor") + F("received_minor"))

    def sharing_a_trip_with(self, user: User) -> "MemberQuerySet":
        """Memberships in the trips that `user` is a member of."""
        return self.present().filter(
            trip__in=Member.objects.present().filter(user=user).values("trip")
        )


class Member(models.Model):
    """Somebody in a trip, with a role and the sums of their entries.

    The row outlives the membership (`left_at`), because the sums do. All sums are in minor units
    of the trip's currency and move in the transaction of the entry that causes it.
    """

    trip = models.ForeignKey(Trip, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=6, choices=ROLE_CHOICES, default=TripRole.VIEWER)
    joined_at = models.DateTimeField(default=timezone.now)
    left_at = models.DateTimeField(null=True, blank=True, editable=False)
    paid_minor = models.BigIntegerField(default=0, editable=False)
    share_minor = models.BigIntegerField(default=0, editable=False)
    sent_minor = models.BigIntegerField(default=0, editable=False)
    received_minor = models.BigIntegerField(default=0, editable=False)
    #: What is open of this member's debts in the trip; no part of the balance.
    owed_minor = models.BigIntegerField(default=0, db_default=0, editable=False)

    objects = MemberQuerySet.as_manager()

    caller_role: str

    class Meta:
        ordering: ClassVar = ["joined_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["trip", "user"], name="member_once_in_trip"),
            # SQLite would go on in floating point where 64 bits end.
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
                condition=Q(owed_minor__gte=0, owed_minor__lte=MAX_INTEGER),
                name="member_owed_in_range",
            ),
            models.CheckConstraint(
                condition=Q(role__in=[role.value for role in TripRole]), name="member_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    @property
    def balance_minor(self) -> int:
        """What the trip owes this member (positive) or is owed by them (negative)."""
        return self.paid_minor - self.share_minor + self.sent_minor - self.received_minor

    @classmethod
    def shift(cls, trip_id: int, changes: Mapping[int, Mapping[str, int]]) -> None:
        """Add to the sums of several members of a trip in one UPDATE.

        `changes` maps user ids to the minor units that each named sum moves by.
        """
        if not changes:
            return
        rows = ", ".join(["(%s, %s, %s, %s, %s, %s)"] * len(changes))
        values = [
            value
            for user_id, moved in changes.items()
            for value in (user_id, *(moved.get(name, 0) for name in KEPT_SUMS))
        ]
        with connection.cursor() as cursor:
            cursor.execute(_SHIFT % rows, [*values, trip_id])

    def change_role(self, role: str, by: User) -> None:
        """Give the member another role. Raises `LastOwner`."""
        with self._locked(by, Can.MANAGE_MEMBERS) as member:
            if role != TripRole.OWNER:
                member._require_other_owner()
            member.role = self.role = role
            member.save(update_fields=["role"])

    def remove(self, by: User) -> None:
        """End the membership of somebody. Raises `BalanceOpen` or `LastOwner`."""
        with self._locked(by, Can.MANAGE_MEMBERS) as member:
            member._end()

    def leave(self, by: User) -> None:
        """End one's own membership. Raises `BalanceOpen` or `LastOwner`."""
        with self._locked(by, Can.LEAVE) as member:
            member._end()

    def _end(self) -> None:
        self._require_other_owner()
        if self.balance_minor:
            raise BalanceOpen(
                balance=to_major(self.balance_minor, self.trip.currency),
                currency=self.trip.currency,
            )
        self.left_at = timezone.now()
        self.save(update_fields=["left_at"])

    def _locked(self, by: User, can: Can) -> AbstractContextManager["Member"]:
        return locked_row(Member.objects.present, by, can, trip_id=self.trip_id, pk=self.pk)

    def _require_other_owner(self) -> None:
        if self.role == TripRole.OWNER and not self._other_owners().exists():
            raise LastOwner

    def _other_owners(self) -> MemberQuerySet:
        owners = Member.objects.present().filter(trip=self.trip_id, role=TripRole.OWNER)
        return owners.exclude(pk=self.pk)


@Prepared
def members_of(trip: Given) -> MemberQuerySet:
    """The present members of a trip, by the time they joined."""
    return Member.objects.shown().filter(trip=trip)


def trips_with_members() -> TripQuerySet:
    """Trips, each with its members as `present_members`."""
    members = Member.objects.shown()
    return Trip.objects.prefetch_related(Prefetch("members", members, "present_members"))


def require_membership(user: User, trip_id: int | None) -> None:
    """Raise `ValidationError` on `tripId` if it names a trip that `user` is no member of."""
    if trip_id is not None and not Trip.objects.of_member(user).filter(pk=trip_id).exists():
        raise ValidationError({"tripId": [_("You are no member of such a trip.")]})


def with_companionship(users: models.QuerySet[User], viewer: User) -> models.QuerySet[User]:
    """`users`, each with `is_companion`: whether they share a trip with `viewer`."""
    return users.annotate(
        is_companion=Exists(Member.objects.sharing_a_trip_with(viewer).filter(user=OuterRef("pk")))
    )
