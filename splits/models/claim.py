"""Claims: an account takes the place of a guest in everything that was recorded."""

from django.db.models import QuerySet
from django.utils import timezone

from splits.models.expense import Expense
from splits.models.merge import BATCH_ROWS, PEOPLE, Merge
from splits.models.merged import MergedPeople
from trips.models import Invitation, Member, Trip
from trips.models.joining import require_trip_quota
from users.models import User


def accept_invitation(token: str, user: User) -> Member:
    """Add `user`, who has the token of an invitation, with its role.

    If it names a guest, `user` takes their place, and may be a member already. Raises what
    `Invitation.accepted` and `Trip.admit` raise.
    """
    with Invitation.accepted(token, user) as (invitation, account):
        if invitation.guest_id is None:
            return invitation.admit(account)
        return _claim(invitation.trip, invitation.guest_id, account, invitation.role)


def _claim(trip: Trip, guest_id: int, account: User, role: str) -> Member:
    """Give all entries of the guest to the account, and delete the guest. Call under both locks.

    A member keeps their role, and their entries and the guest's are merged. For others, amounts,
    debts and sums stay as they are: the account ranks where the guest did.
    """
    member = trip.members.filter(user=account).first()
    if member is None or member.left_at is not None:
        trip.require_owner_besides(role)
        require_trip_quota(account)
    if member is None:
        _take_place(trip, guest_id, account, role)
    else:
        if member.left_at is not None:
            member.readmit(role)
        Merge(trip, trip.members.get(user=guest_id), member).carry_out()
    return Member.objects.with_details().get(trip=trip, user=account)


def _take_place(trip: Trip, guest_id: int, account: User, role: str) -> None:
    for model, column in PEOPLE:
        rows: QuerySet = model._default_manager.filter(**{column: guest_id})
        rows.update(**{column: account})
    expenses = list(trip.expenses.filter(merged__isnull=False).only("merged"))
    for expense in expenses:
        merged = MergedPeople.load(expense.merged)
        expense.merged = merged.given_to(account.pk, by=guest_id).dump()
    Expense.objects.bulk_update(expenses, ["merged"], BATCH_ROWS)
    trip.members.filter(user=guest_id).update(user=account, role=role, joined_at=timezone.now())
    trip.claimed_guests = f"{trip.claimed_guests} {account.pk}:{guest_id}".strip()
    trip.save(update_fields=["claimed_guests"])
    User.objects.filter(pk=guest_id, is_guest=True).delete()
