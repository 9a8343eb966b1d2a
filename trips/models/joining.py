"""Joining a trip: its code, and how users become members."""

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied

from tripcompanion.api.problems import Conflict, LimitReached
from trips.models.events import Event
from trips.models.journal import Entry, write
from trips.models.lock import lock_trip, locked_trip
from trips.models.notices import notify
from trips.roles import DEFAULT_ROLE, JOIN_ROLE_CHOICES, OWNER_ROLES, Can, may_grant
from users.models import User

if TYPE_CHECKING:
    from trips.models.member import Member

#: Capitals and digits, without those that look alike: 0 and O, 1 and I.
CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_CHARS = 8

_CODE_ATTEMPTS = 5


def new_code() -> str:
    """A random trip code of 40 bits from a cryptographic source."""
    return "".join(secrets.choice(CODE_ALPHABET) for _position in range(CODE_CHARS))


class UserNotFound(NotFound):
    """404 `user_not_found`: there is no user with this id or address."""

    default_code = "user_not_found"
    default_detail = gettext_lazy("There is no such user.")


class AlreadyMember(Conflict):
    """409 `already_member`: the user is a member of the trip."""

    default_code = "already_member"
    default_detail = gettext_lazy("This user is already a member of the trip.")


class InviteInstead(Conflict):
    """409 `invite_instead`: the user does not let others add them, but can be invited."""

    default_code = "invite_instead"
    default_detail = gettext_lazy("This user joins by invitation only. Please invite them.")


class NoOwner(Conflict):
    """409 `no_owner`: no OWNER is left who can log in, so only an OWNER can be added."""

    default_code = "no_owner"
    default_detail = gettext_lazy("This trip has no owner who can log in; add an owner first.")


class JoinableTrip(models.Model):
    """Base of `Trip`: the code that users join by, and the commands that add members."""

    code = models.CharField(
        gettext_lazy("trip code"), max_length=CODE_CHARS, unique=True, default=new_code
    )
    join_role = models.CharField(
        gettext_lazy("role of those who join"),
        max_length=6,
        choices=JOIN_ROLE_CHOICES,
        default=DEFAULT_ROLE,
    )

    #: The reverse relation of `Member.trip`.
    members: Any

    class Meta:
        abstract = True

    def add_member(
        self, by: User, *, role: str, user_id: int | None = None, email: str = ""
    ) -> "Member":
        """Add a member, by user id or by address.

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
            user = _locked_account(found)
            with locked_trip(self.pk, by, Can.ADD_MEMBERS) as trip:
                if not may_grant(trip.caller_role, role):
                    raise PermissionDenied(_("You cannot assign a role above your own."))
                if user is None:
                    raise UserNotFound
                if not user.may_be_added:
                    raise InviteInstead
                introducer = by.pk if user_id is None else 0
                member = trip._admit_locked(user, role, by, introduced_by=introducer)
                if user.may_want_notices:
                    notify("member.added", Q(pk=user.pk), by=by, trip_id=self.pk)
                return member

    def join(self, user: User, code: str) -> "Member":
        """Add `user`, who knows the code, with the trip's `join_role`.

        Raises `NotFound` if the code has changed, `EmailUnverified`, and what `admit` raises.
        """
        with transaction.atomic():
            account = User.objects.active().locked(user.pk)
            account.require_verified_email()
            trip = lock_trip(self.pk)
            if trip.code != code.upper():
                raise NotFound
            return trip._admit_locked(account, trip.join_role, user)

    def admit(self, user: User, role: str) -> "Member":
        """Add `user` or a former member, without a check of permissions.

        Raises `AlreadyMember`, `NoOwner`, and `LimitReached` above `QUOTA_MEMBERS` or
        `QUOTA_TRIPS`.
        """
        with transaction.atomic():
            account = User.objects.active().locked(user.pk)
            return lock_trip(self.pk)._admit_locked(account, role, None)

    def _admit_locked(
        self,
        user: User,
        role: str,
        by: User | None,
        *entries: Entry,
        introduced_by: int | None = None,
    ) -> "Member":
        """Add `user` or a former member; the caller holds both locks.

        For `introduced_by` see `Member`. The journal gets `entries`, and then an entry that the
        user joined, or that somebody else (`by`) added them. Lock the account first and then the
        trip, as in `delete_account`, to avoid a deadlock.
        """
        member: Member | None = self.members.filter(user=user).first()
        if member is not None and member.left_at is None:
            raise AlreadyMember
        self.require_owner_besides(role)
        self._require_member_quota()
        if introduced_by is None or (member is not None and member.introduced_by is None):
            require_trip_quota(user)
        elif not user.is_unanswered:
            User.objects.filter(pk=user.pk).update(is_unanswered=True)
            user.is_unanswered = True
        if member is None:
            member = self.members.create(user=user, role=role, introduced_by=introduced_by)
        else:
            member.readmit(role, introduced_by)
        event = Event.MEMBER_JOINED if by == user else Event.MEMBER_ADDED
        write(self.pk, by, *entries, Entry(event, user.pk, {"role": (None, role)}))
        return member

    def add_guest(self, by: User, name: str) -> "Member":
        """Add somebody without an account. Raises `LimitReached` above `QUOTA_MEMBERS`."""
        with locked_trip(self.pk, by, Can.ADD_MEMBERS) as trip:
            trip._require_member_quota()
            guest = User.create_guest(name)
            member = trip.members.create(user=guest, role=DEFAULT_ROLE)
            changes = {"name": (None, name), "role": (None, DEFAULT_ROLE)}
            write(trip.pk, by, Entry(Event.GUEST_ADDED, guest.pk, changes))
            return member

    def require_owner_besides(self, role: str) -> None:
        """Raise `NoOwner` if somebody with `role` would be in a trip without an owner.

        A trip loses its last owner when the only member with an account deletes it. Call it under
        the lock.
        """
        if role not in OWNER_ROLES and not self.members.owners().exists():
            raise NoOwner

    def _require_member_quota(self) -> None:
        if self.members.present().count() >= settings.QUOTA_MEMBERS:
            raise LimitReached(limit=settings.QUOTA_MEMBERS)

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


def require_trip_quota(user: User) -> None:
    """Raise `LimitReached` if `user` has `QUOTA_TRIPS` trips in which they have answered.

    Call it under the lock of the account, so that concurrent requests cannot exceed the quota.
    """
    if user.memberships.filter(left_at=None, introduced_by=None).count() >= settings.QUOTA_TRIPS:
        raise LimitReached(limit=settings.QUOTA_TRIPS)


def _locked_account(found: models.QuerySet[User]) -> User | None:
    """Lock the only account of `found` until the transaction ends, and return it, or None."""
    return found.select_for_update(no_key=True).first()
