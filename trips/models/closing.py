"""What stands in the way of deleting an account, and what deleting one does to its trips."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from tripcompanion.kit.currencies import to_major
from tripcompanion.kit.problems import Conflict
from trips.models.member import BalanceOpen, LastOwner, Member
from trips.models.trip import Trip
from trips.roles import TripRole
from users.models import Role, User


class AccountInUse(Conflict):
    """409 `account_in_use`: somebody still settles with this account, or needs it as an owner.

    The member `obstacles` of the problem lists what is to be put right, trip by trip.
    """

    default_code = "account_in_use"
    default_detail = gettext_lazy("Settle your balances and hand over your trips first.")
    #: Of the example in the document; each instance has its own.
    extensions: Mapping[str, Any] = {
        "obstacles": [
            {
                "tripId": 7,
                "title": "Lisbon in May",
                "reason": BalanceOpen.default_code,
                "balance": -12.5,
                "currency": "EUR",
            }
        ]
    }

    def __init__(self, obstacles: list[dict[str, Any]]) -> None:
        super().__init__()
        self.extensions = {"obstacles": obstacles}


def close_account(
    user: User,
    *,
    by: User | None,
    as_admin: bool = False,
    settled: bool = False,
    proof: str | None = None,
) -> None:
    """Delete an account: end its memberships and empty its row; its entries stay.

    Raises `LastOwner` if somebody would be left in a trip without an owner, and `LastAdmin`.
    With `settled`, raises `AccountInUse` instead, also for every balance that is open. `by` and
    `as_admin` are those of `User.locked`; `proof` is the hash that the password was verified
    against.
    """
    lock_admins = as_admin or user.role == Role.ADMIN
    # From here on nobody makes this account a member; then its trips stand still too.
    with user.locked(by=by, as_admin=as_admin, lock_admins=lock_admins) as account:
        account.require_password(proof, "password")
        account.require_other_admin()
        members = Member.objects.filter(user=account)
        list(Trip.objects.filter(members__in=members).order_by("pk").select_for_update(of=["self"]))
        obstacles = [obstacle for member in _judged(members) for obstacle in _obstacles(member)]
        if settled and obstacles:
            raise AccountInUse(obstacles)
        if any(obstacle["reason"] == LastOwner.default_code for obstacle in obstacles):
            raise LastOwner
        members.present().update(left_at=timezone.now())
        account.empty()


def _judged(members: QuerySet[Member]) -> QuerySet[Member]:
    """`members`, each with whether there are others, and another owner, in the trip."""
    others = Member.objects.present().filter(trip=OuterRef("trip")).exclude(pk=OuterRef("pk"))
    return (
        members.select_related("trip")
        .annotate(
            has_others=Exists(others),
            has_other_owner=Exists(others.filter(role=TripRole.OWNER)),
        )
        .order_by("trip_id")
    )


def _obstacles(member: Any) -> Iterator[dict[str, Any]]:
    """What one membership, also a former one, puts in the way."""
    is_last_owner = (
        member.left_at is None
        and member.role == TripRole.OWNER
        and member.has_others
        and not member.has_other_owner
    )
    for reason, applies in (
        (BalanceOpen.default_code, member.balance_minor),
        (LastOwner.default_code, is_last_owner),
    ):
        if applies:
            yield {
                "tripId": member.trip_id,
                "title": member.trip.title,
                "reason": reason,
                "balance": to_major(member.balance_minor, member.trip.currency),
                "currency": member.trip.currency,
            }
