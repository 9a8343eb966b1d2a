"""Invitations: links by which others become members of a trip."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, Exists, ExpressionWrapper, F, OuterRef, Q, Subquery
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError

from plugins.invitations.conflicts import AlreadyInvited, EmailUnverified, InvitedByAddress
from plugins.invitations.mails import LETTER
from plugins.restorable import author_column
from tripcompanion.api.problems import LimitReached
from tripcompanion.database.deletes import delete_in_batches
from trips.models.conflicts import AlreadyMember
from trips.models.journal import Entry, JournalEntry, entries_between, write
from trips.models.member import Member
from trips.models.trip import Trip, lock_trip, locked_row, locked_trip, trip_key
from trips.models.visibility import InTripQuerySet
from trips.roles import ANY, MAX_ROLE_LENGTH, TABLE, Can, TripRole, may_grant
from users.emails import MAX_EMAIL_CHARS, email_key
from users.models import Mail, Role, User, summary_of
from users.random_tokens import digest_of, new_token, require_lifetime
from users.signals import admin_ended, sessions_ended

#: What the journal records.
CREATED, REVOKED = "invitation.created", "invitation.revoked"
ACCEPTED = "invitation.accepted"
#: The prefix of every token.
PREFIX = "tci_"
MAX_OPEN_INVITATIONS = 100
MAX_NOTE_CHARS = 200
MAX_USES = 10_000
DEFAULT_LIFETIME = timedelta(days=14)
MAX_LIFETIME = timedelta(days=90)
#: The roles whose members may invite to each role: they must be able to add members with it.
_INVITERS = {
    granted: [
        role
        for role in TripRole
        if TABLE[Can.ADD_MEMBERS][role] is ANY and may_grant(role, granted)
    ]
    for granted in TripRole
}


class InvitationState(models.TextChoices):
    """Whether an invitation can be accepted, or why not."""

    OPEN = "open", gettext_lazy("open")
    USED = "used", gettext_lazy("used")
    EXPIRED = "expired", gettext_lazy("expired")
    REVOKED = "revoked", gettext_lazy("revoked")


class InvitationQuerySet(InTripQuerySet[Any]):
    def unused(self) -> "InvitationQuerySet":
        """Invitations that were neither used up nor revoked, and have not expired."""
        is_left = Q(max_uses=None) | Q(uses__lt=F("max_uses"))
        return self.filter(is_left, revoked_at=None, expires_at__gt=timezone.now())

    def remove(self) -> list[int]:
        """Delete these invitations and their mails; returns their ids."""
        ids = list(self.values_list("pk", flat=True))
        if ids:
            Mail.objects.filter(letter=LETTER, object_id__in=ids).delete()
            self.delete()
        return ids

    def purge(self) -> int:
        """Delete these in batches, with their mails, which are not counted; returns how many."""
        return delete_in_batches(self, lambda batch: len(batch.remove()))

    def revoke(self) -> list[Entry]:
        """Revoke those that are not revoked yet; returns the journal entries.

        Call it under the trip's lock.
        """
        ids = list(self.filter(revoked_at=None).order_by("pk").values_list("pk", flat=True))
        if ids:
            self.model.objects.filter(pk__in=ids).update(revoked_at=timezone.now())
        return [Entry(REVOKED, pk) for pk in ids]

    def with_details(self) -> "InvitationQuerySet":
        """With `inviter_may`: whether the maker may still add members with its role."""
        members = Member.objects.present().filter(
            trip=OuterRef("trip"), user=OuterRef("created_by"), user__is_active=True
        )
        may = Q(created_by__role=Role.ADMIN, created_by__is_active=True)
        for granted, roles in _INVITERS.items():
            # The weakest role is also what one of a newer release counts as.
            others = [role for role in TripRole if role is not granted]
            is_it = ~Q(role__in=others) if granted is TripRole("") else Q(role=granted)
            may |= is_it & Q(Exists(members.filter(role__in=roles)))
        # An ADMIN may invite to any trip, but nobody to a deleted one.
        may &= Q(trip__deleted_at=None)
        condition: Any = ExpressionWrapper(may, output_field=models.BooleanField())
        rows: Any = self.select_related("created_by")
        return rows.annotate(inviter_may=condition)


class Invitation(models.Model):
    """An invitation to a trip: whoever has its token may become a member with its role.

    The token is returned once, in a link. If there is an `email`, the mail to it contains another
    token. Both are 256 random bits, so storing their SHA-256 is safe. An invitation is void once
    its maker may no longer add members.
    """

    trip = trip_key("invitations")
    created_by = author_column(gettext_lazy("invited by"))
    role = models.CharField(gettext_lazy("role"), max_length=MAX_ROLE_LENGTH, choices=TripRole)
    #: Only the account with this address may accept; null if everybody may who has the link.
    email = models.CharField(  # noqa: DJ001 -- null if for everybody
        gettext_lazy("email"), max_length=MAX_EMAIL_CHARS, null=True
    )
    #: `email` in the form that is compared.
    email_key = models.CharField(  # noqa: DJ001 -- null if for everybody
        max_length=MAX_EMAIL_CHARS * 2, null=True, db_index=True
    )
    note = models.CharField(gettext_lazy("note"), max_length=MAX_NOTE_CHARS, blank=True, default="")
    #: The guest whose place the account takes; null if it becomes an additional member.
    guest = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        null=True,
        related_name="invitations",
        verbose_name=gettext_lazy("guest"),
    )
    #: SHA-256 of the token in the response, in hexadecimal digits.
    digest = models.CharField(max_length=64, unique=True)
    #: The same of the token in the mail; null until it is sent.
    mailed_digest = models.CharField(  # noqa: DJ001 -- unique, so not ""
        max_length=64, unique=True, null=True
    )
    #: How often it may be accepted; null is without limit.
    max_uses = models.PositiveIntegerField(gettext_lazy("maximum of uses"), null=True)
    uses = models.PositiveIntegerField(gettext_lazy("uses"), default=0)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    expires_at = models.DateTimeField(gettext_lazy("expires at"), db_index=True)
    revoked_at = models.DateTimeField(gettext_lazy("revoked at"), null=True)

    objects = InvitationQuerySet.as_manager()

    caller_role: str
    #: Set by `with_details`.
    inviter_may: bool
    #: The token itself; set by `issue` only.
    token: str

    class Meta:
        db_table = "trips_invitation"
        verbose_name = gettext_lazy("invitation")
        verbose_name_plural = gettext_lazy("invitations")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(max_uses=None) | Q(uses__lte=F("max_uses")),
                name="invitation_uses_in_range",
            ),
            models.CheckConstraint(
                condition=Q(role__in=TripRole.values), name="invitation_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} ({self.get_role_display()})"

    @classmethod
    def issue(
        cls,
        trip: Trip,
        by: User,
        *,
        role: str,
        email: str | None = None,
        guest_user_id: int | None = None,
        note: str = "",
        expires_at: datetime | None = None,
        max_uses: int | None = None,
    ) -> "Invitation":
        """Create an invitation with `.token` set; with `email`, also queue a mail with a link.

        `expires_at` defaults to `DEFAULT_LIFETIME` from now. An invitation to an address works
        once, and so does one to take the place of the guest `guest_user_id`. Raises
        `PermissionDenied` if `role` is above the caller's own, `AlreadyMember`, `AlreadyInvited`,
        `LimitReached`, and `ValidationError` if `expires_at` is in the past or too late, or if
        there is no such guest.
        """
        token = new_token(PREFIX)
        if email is not None or guest_user_id is not None:
            max_uses = 1
        issued = cls(role=role, email=email, note=note, digest=digest_of(token), max_uses=max_uses)
        until = expires_at or issued.created_at + DEFAULT_LIFETIME
        issued.expires_at = require_lifetime(until, MAX_LIFETIME)
        issued.email_key = None if email is None else email_key(email)
        # With the account: once its sessions have ended, it makes no more.
        with by.locked(by=by), locked_trip(trip.pk, by, Can.ADD_MEMBERS) as locked:
            if not may_grant(locked.caller_role, role):
                raise PermissionDenied(_("You cannot assign a role above your own."))
            issued.trip, issued.created_by = locked, by
            issued._require_room()
            issued.guest = _guest_of(locked, guest_user_id)
            issued.save()
            created = entries_between(CREATED, issued.pk, {}, _fields_of(issued))
            write(trip.pk, by, *created)
            if email is not None:
                Mail.objects.create(
                    letter=LETTER, address=email, trip_id=trip.pk, object_id=issued.pk
                )
        issued.token, issued.inviter_may = token, True
        return issued

    def _require_room(self) -> None:
        """Raise unless the trip may have this invitation besides the others."""
        unused = Invitation.objects.filter(trip=self.trip).unused()
        LimitReached.require_at_most(MAX_OPEN_INVITATIONS, unused.count() + 1)
        if self.email_key is None:
            return
        if Member.objects.present().filter(trip=self.trip, user__email_key=self.email_key).exists():
            raise AlreadyMember
        if unused.filter(email_key=self.email_key).exists():
            raise AlreadyInvited

    def revoke(self, by: User) -> None:
        """Make the invitation invalid at once. Its mail is not sent if it is still queued.

        Revoking it again changes nothing.
        """
        rows = Invitation.objects.all
        with locked_row(rows, by, Can.ADD_MEMBERS, trip_id=self.trip_id, pk=self.pk) as locked:
            revoked = Invitation.objects.filter(pk=locked.pk).revoke()
            write(locked.trip_id, by, *revoked, is_limited=False)
            Mail.objects.filter(letter=LETTER, object_id=locked.pk).delete()

    @classmethod
    def presented(cls, token: str) -> "Invitation":
        """The open invitation with this token, its trip and `member_count`; raises `NotFound`."""
        digest = digest_of(token)
        present = Member.objects.present().filter(trip=OuterRef("trip")).order_by().values("trip")
        found = (
            cls.objects.with_details()
            .annotate(member_count=Subquery(present.annotate(count=Count("pk")).values("count")))
            .select_related("trip")
            .filter(Q(digest=digest) | Q(mailed_digest=digest))
            .first()
        )
        if found is None or found.state != InvitationState.OPEN:
            raise NotFound
        return found

    @classmethod
    @contextmanager
    def accepted(cls, token: str, user: User) -> Iterator[tuple["Invitation", User]]:
        """Open a transaction, count a use, and yield the invitation and the account of `user`.

        Both the account and the trip are locked; the block adds the member. Raises `NotFound`
        unless the invitation is open, and `InvitedByAddress` or `EmailUnverified` if it is for an
        address that is not the confirmed one of `user`.
        """
        with transaction.atomic():
            account = User.objects.active().locked(user.pk)
            before = cls.presented(token)
            trip = lock_trip(before.trip_id)
            # Read again: somebody may have used it for the last time before this got the lock.
            invitation = cls.presented(token)
            if user.confined_to not in {None, trip.pk}:
                raise NotFound
            invitation._require_addressee(account)
            invitation.trip = trip
            # Without the guest, who may be deleted by the end of the block.
            cls.objects.filter(pk=invitation.pk).update(uses=F("uses") + 1, guest=None)
            yield invitation, account

    @property
    def acceptance(self) -> list[Entry]:
        """The journal entry for the use that `accepted` counted."""
        uses = {"uses": self.uses, "guestUserId": self.guest_id}, {"uses": self.uses + 1}
        return entries_between(ACCEPTED, self.pk, *uses)

    def _require_addressee(self, account: User) -> None:
        if self.email_key is None:
            EmailUnverified.require(account)
        elif self.email_key != account.email_key:
            raise InvitedByAddress
        elif account.email_verified_at is None:
            raise EmailUnverified

    @property
    def state(self) -> str:
        """A value of `InvitationState`. Reads `inviter_may`."""
        if self.revoked_at is not None or not self.inviter_may:
            return InvitationState.REVOKED
        if self.max_uses is not None and self.uses >= self.max_uses:
            return InvitationState.USED
        is_over = self.expires_at <= timezone.now()
        return InvitationState.EXPIRED if is_over else InvitationState.OPEN

    @property
    def link(self) -> str:
        """The page of the front end that accepts it; only after `issue`."""
        return _page_of(self.token)

    @classmethod
    def link_of(cls, mail: Mail) -> str:
        """The link for a mail, with a new token for each attempt; empty if it is void."""
        found = cls.objects.with_details().filter(pk=mail.object_id or 0).first()
        if found is None or found.state != InvitationState.OPEN:
            return ""
        token = new_token(PREFIX)
        cls.objects.filter(pk=found.pk).update(mailed_digest=digest_of(token))
        return _page_of(token)


def revoked(trip_id: int, user_id: int, *, is_deleted: bool) -> list[Entry]:
    """See `Plugin.revoked`: what a person made ends for good; what names a guest is deleted."""
    rows = Invitation.objects.filter(trip=trip_id)
    if is_deleted:
        return [Entry(REVOKED, pk) for pk in sorted(rows.filter(guest=user_id).remove())]
    return rows.with_details().filter(created_by=user_id, inviter_may=False).revoke()


def of_account(account: User) -> InvitationQuerySet:
    """Those that an account made, or that contain its address."""
    to_account = Q(email_key=account.email_key, email_key__isnull=False)
    return Invitation.objects.filter(Q(created_by=account) | to_account)


def forget(account: User, by: User | None) -> None:
    """Delete the invitations of an account that ends, and their notes. Its trips are locked."""
    ended: dict[int, list[int]] = {}
    for trip_id, pk in of_account(account).order_by("pk").values_list("trip", "pk"):
        ended.setdefault(trip_id, []).append(pk)
    for trip_id, ids in ended.items():
        write(trip_id, by, *(Entry(REVOKED, pk) for pk in ids), is_limited=False)
        journal = JournalEntry.objects.filter(trip=trip_id, event=CREATED, object_id__in=ids)
        journal.forget("note")
    of_account(account).remove()


@receiver([sessions_ended, admin_ended])
def revoke_invitations_of(account: User, by: User | None, **_about: object) -> None:
    """Revoke all open invitations that `account` has made, also in deleted trips.

    A former ADMIN may have invited to trips without being a member. Called under the lock of the
    account; each trip is locked in turn.
    """
    rows, trips = Invitation.objects.unused().filter(created_by=account), Trip.objects.order_by()
    for trip_id in sorted({*rows.values_list("trip", flat=True)}):
        for trip in trips.select_for_update().filter(pk=trip_id):
            write(trip.pk, by, *rows.filter(trip=trip).revoke(), is_limited=False)


def invitations_of(trip_id: int) -> InvitationQuerySet:
    """The invitations to a trip, newest first, with the columns that are serialized."""
    rows = Invitation.objects.with_details().select_related("guest").filter(trip=trip_id)
    columns = ("trip", "role", "email", "note", "max_uses", "uses", "expires_at", "revoked_at")
    return rows.only(
        *columns, "created_at", *summary_of("created_by"), *summary_of("guest")
    ).order_by("-id")


def _page_of(token: str) -> str:
    return f"{settings.FRONTEND_URL}/invitation?{urlencode({'token': token})}"


def _guest_of(trip: Trip, user_id: int | None) -> User | None:
    if user_id is None:
        return None
    found = Member.objects.guests().filter(trip=trip, user=user_id).first()
    if found is None:
        raise ValidationError({"guestUserId": [_("There is no such guest.")]})
    return found.user


def _fields_of(invitation: Invitation) -> dict[str, Any]:
    """The fields of an invitation, without its address.

    The address may be that of somebody without an account, and the journal would keep it for ever.
    """
    return {
        "role": invitation.role,
        "guestUserId": invitation.guest_id,
        "expiresAt": invitation.expires_at,
        "maxUses": invitation.max_uses,
        "note": invitation.note,
    }
