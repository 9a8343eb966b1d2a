"""Queries for invitations, and the states of one."""

from typing import Any

from django.db import models
from django.db.models import Exists, ExpressionWrapper, F, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from trips.models.events import Event
from trips.models.journal import Entry
from trips.models.member import Member
from trips.models.visibility import InTripQuerySet
from trips.roles import TABLE, Access, Can, TripRole, may_grant
from users.models import Role

#: The roles whose members may invite to each role: they must be able to add members with it.
_INVITERS = {
    granted: [
        role
        for role in TripRole
        if TABLE[Can.ADD_MEMBERS][role] is Access.ANY and may_grant(role, granted)
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

    def withdraw(self) -> list[Entry]:
        """Delete these invitations, whose guest is being deleted; returns the journal entries.

        Call it under the trip's lock.
        """
        revoked = [
            Entry(Event.INVITATION_REVOKED, pk)
            for pk in self.order_by("pk").values_list("pk", flat=True)
        ]
        if revoked:
            self.delete()
        return revoked

    def revoke(self) -> list[Entry]:
        """Revoke those that are not revoked yet; returns the journal entries.

        Call it under the trip's lock.
        """
        ids = list(self.filter(revoked_at=None).order_by("pk").values_list("pk", flat=True))
        if ids:
            self.model.objects.filter(pk__in=ids).update(revoked_at=timezone.now())
        return [Entry(Event.INVITATION_REVOKED, pk) for pk in ids]

    def revoke_void(self) -> list[Entry]:
        """Like `revoke`, for invitations whose maker may no longer invite; they end for good."""
        return self.with_details().filter(inviter_may=False).revoke()

    def with_details(self) -> "InvitationQuerySet":
        """With `inviter_may`: whether the maker may still add members with its role."""
        members = Member.objects.present().filter(
            trip=OuterRef("trip"), user=OuterRef("created_by"), user__is_active=True
        )
        may = Q(created_by__role=Role.ADMIN, created_by__is_active=True)
        for granted, roles in _INVITERS.items():
            may |= Q(Exists(members.filter(role__in=roles)), role=granted)
        # An ADMIN may invite to any trip, but nobody to a deleted one.
        may &= Q(trip__deleted_at=None)
        condition: Any = ExpressionWrapper(may, output_field=models.BooleanField())
        rows: Any = self.select_related("created_by")
        return rows.annotate(inviter_may=condition)
