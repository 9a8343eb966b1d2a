"""Claims: an account takes the place of a guest in everything that was recorded."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from splits.models.merge import Merge
from trips.models import Invitation, Member, Trip
from trips.models.events import Event
from trips.models.joining import require_trip_quota
from trips.models.journal import Entry, entries_between, write
from trips.roles import DEFAULT_ROLE, Can, may
from users.models import User
from users.models.token import InsufficientScope
from users.scopes import Scope


def accept_invitation(token: str, user: User) -> Member:
    """Add `user`, who has the token of an invitation, to the trip with the invitation's role.

    If the invitation names a guest, `user` takes the guest's place. A member may do so only if the
    person who invited may merge guests. Raises `PermissionDenied` otherwise, `InsufficientScope` if
    a token may not change entries, and what `Invitation.accepted` and `Member.admit` raise.
    """
    with Invitation.accepted(token, user) as (invitation, account):
        trip, role = invitation.trip, invitation.role
        if invitation.guest_id is None:
            return Member.admit(trip, account, role, user, *invitation.acceptance)
        if not user.covers(Scope.EXPENSES_WRITE):
            raise InsufficientScope(Scope.EXPENSES_WRITE)
        _require_merger(invitation, account)
        claimed = _claim(trip, invitation.guest_id, account, role)
        write(trip.pk, user, *invitation.acceptance, *claimed)
        return Member.objects.with_details().get(trip=trip, user=account)


def _require_merger(invitation: Invitation, account: User) -> None:
    """Raise `PermissionDenied` for a claim that is a merge, if the inviter may not merge guests.

    A claim is a merge for current and former members, and for the person who made the invitation.
    Otherwise they would get around the permission that `mergeGuest` needs.
    """
    trip, inviter = invitation.trip, invitation.created_by
    if account != inviter and not trip.members.filter(user=account).exists():
        return
    member = trip.members.present().filter(user=inviter).first()
    may_merge = member is not None and may(member.role, Can.MANAGE_MEMBERS, lambda: False)
    if not (inviter.is_admin or may_merge):
        raise PermissionDenied(_("Only an owner of the trip can merge a guest with a member."))


def _claim(trip: Trip, guest_id: int, account: User, role: str) -> list[Entry]:
    """Give all entries of the guest to the account, and delete the guest. Call under both locks.

    A member keeps their role, and the guest's entries are merged with theirs. For others, amounts,
    debts and sums stay as they are: the account also gets the guest's odd cents. Returns the
    entries for the journal.
    """
    member = trip.members.filter(user=account).first()
    if member is None or member.left_at is not None:
        trip.require_owner_besides(role)
        require_trip_quota(account)
    if member is None:
        revoked = Invitation.objects.filter(trip=trip, guest=guest_id).withdraw()
        trip.replace_person(guest_id, account.pk, role)
        User.objects.filter(pk=guest_id, is_guest=True).delete()
        guest = {"userId": guest_id, "role": DEFAULT_ROLE}
        now = {"userId": account.pk, "role": role}
        return [*revoked, *entries_between(Event.GUEST_CLAIMED, account.pk, guest, now)]
    joined = []
    if member.left_at is not None:
        member.readmit(role)
        joined = [Entry(Event.MEMBER_JOINED, account.pk, {"role": (None, role)})]
    return joined + Merge(trip, trip.members.get(user=guest_id), member).carry_out()
