"""Claims: an account takes the place of a guest in everything that was recorded."""

from django.utils import timezone

from splits.models.merge import Merge, give_entries
from trips.models import Invitation, Member, Trip
from trips.models.events import Event
from trips.models.joining import require_trip_quota
from trips.models.journal import Entry, entries_between, write
from trips.roles import TripRole
from users.models import User


def accept_invitation(token: str, user: User) -> Member:
    """Add `user`, who has the token of an invitation, with its role.

    If it names a guest, `user` takes their place, and may be a member already. Raises what
    `Invitation.accepted` and `Trip.admit` raise.
    """
    with Invitation.accepted(token, user) as (invitation, account):
        if invitation.guest_id is None:
            return invitation.admit(account, user)
        trip = invitation.trip
        claimed = _claim(trip, invitation.guest_id, account, invitation.role)
        write(trip.pk, user, invitation.acceptance, *claimed)
        return Member.objects.with_details().get(trip=trip, user=account)


def _claim(trip: Trip, guest_id: int, account: User, role: str) -> list[Entry]:
    """Give all entries of the guest to the account, and delete the guest. Call under both locks.

    A member keeps their role, and their entries and the guest's are merged. For others, amounts,
    debts and sums stay as they are: the account ranks where the guest did. Returns what the
    journal notes.
    """
    member = trip.members.filter(user=account).first()
    if member is None or member.left_at is not None:
        trip.require_owner_besides(role)
        require_trip_quota(account)
    if member is None:
        revoked = Invitation.objects.filter(trip=trip, guest=guest_id).withdraw()
        _take_place(trip, guest_id, account, role)
        guest = {"userId": guest_id, "role": TripRole.VIEWER}
        now = {"userId": account.pk, "role": role}
        return [*revoked, *entries_between(Event.GUEST_CLAIMED, account.pk, guest, now)]
    joined = []
    if member.left_at is not None:
        member.readmit(role)
        joined = [Entry(Event.MEMBER_JOINED, account.pk, {"role": (None, role)})]
    return joined + Merge(trip, trip.members.get(user=guest_id), member).carry_out()


def _take_place(trip: Trip, guest_id: int, account: User, role: str) -> None:
    give_entries(trip, guest_id, account.pk)
    trip.members.filter(user=guest_id).update(user=account, role=role, joined_at=timezone.now())
    trip.claimed_guests = f"{trip.claimed_guests} {account.pk}:{guest_id}".strip()
    trip.save(update_fields=["claimed_guests"])
    User.objects.filter(pk=guest_id, is_guest=True).delete()
