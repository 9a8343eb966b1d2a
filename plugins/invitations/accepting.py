"""What happens when somebody accepts an invitation."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from plugins.invitations.models import Invitation
from plugins.merging.models import claim
from trips.models import Member
from trips.models.journal import write
from trips.roles import Can, may
from users.models import User
from users.models.token import require_scopes
from users.scopes import Scope


def accept(token: str, user: User) -> Member:
    """Add `user`, who has the token of an invitation, to the trip with the invitation's role.

    If the invitation names a guest, `user` takes the guest's place. A member may do so only if the
    person who invited may merge guests. Raises `PermissionDenied` otherwise, `InsufficientScope` if
    a token may not change entries, and what `Invitation.accepted` and `Member.admit` raise.
    """
    with Invitation.accepted(token, user) as (invitation, account):
        trip, role = invitation.trip, invitation.role
        if invitation.guest_id is None:
            return Member.admit(trip, account, role, user, *invitation.acceptance)
        require_scopes(user, [Scope.EXPENSES_WRITE])
        _require_merger(invitation, account)
        claimed = claim(trip, invitation.guest_id, account, role)
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
