"""Claims: an account takes the place of a guest in everything that was recorded."""

from django.db.models import Model, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy

from splits.models.posting import Payer
from splits.models.settlement import Debt, Settlement
from splits.models.split import Split
from tripcompanion.kit.problems import Conflict
from trips.models import Invitation, Member, Trip
from trips.models.joining import AlreadyMember, require_trip_quota
from trips.models.journal import Event, entries_between, write
from trips.roles import TripRole
from users.models import User

#: Every column that names a person of the ledger. Guests record nothing, so `created_by` is none.
_PEOPLE: tuple[tuple[type[Model], str], ...] = (
    (Payer, "user"),
    (Split, "participant"),
    (Debt, "debtor"),
    (Debt, "creditor"),
    (Settlement, "sender"),
    (Settlement, "receiver"),
)


class FormerMember(Conflict):
    """409 `former_member`: the account has entries of its own in the trip."""

    default_code = "former_member"
    default_detail = gettext_lazy(
        "This account was a member of the trip before, so it cannot take the place of a guest."
    )


def accept_invitation(token: str, user: User) -> Member:
    """Add `user`, who has the token of an invitation, with its role.

    If it names a guest, `user` takes their place. Raises what `Invitation.accepted` and
    `Trip.admit` raise, and `FormerMember`.
    """
    with Invitation.accepted(token, user) as (invitation, account):
        if invitation.guest_id is None:
            return invitation.admit(account, user)
        member = _claim(invitation.trip, invitation.guest_id, account, invitation.role)
        guest = {"userId": invitation.guest_id, "role": TripRole.VIEWER}
        now = {"userId": account.pk, "role": invitation.role}
        claimed = entries_between(Event.GUEST_CLAIMED, account.pk, guest, now)
        write(invitation.trip_id, user, invitation.acceptance, *claimed)
        return member


def _claim(trip: Trip, guest_id: int, account: User, role: str) -> Member:
    """Give all entries of the guest to the account, and delete the guest. Call under both locks.

    Amounts, debts and sums stay as they are: the account ranks where the guest did.
    """
    former = trip.members.filter(user=account).first()
    if former is not None:
        raise AlreadyMember if former.left_at is None else FormerMember
    trip.require_owner_besides(role)
    require_trip_quota(account)
    for model, column in _PEOPLE:
        rows: QuerySet = model._default_manager.filter(**{column: guest_id})
        rows.update(**{column: account})
    trip.members.filter(user=guest_id).update(user=account, role=role, joined_at=timezone.now())
    trip.claimed_guests = f"{trip.claimed_guests} {account.pk}:{guest_id}".strip()
    trip.save(update_fields=["claimed_guests"])
    User.objects.filter(pk=guest_id, is_guest=True).delete()
    return Member.objects.with_details().get(trip=trip, user=account)
