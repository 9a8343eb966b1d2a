"""App configuration."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import AssistantTool, Outdated, PersonalList, Plugin, TripObject, until


class InvitationsConfig(Plugin):
    name = "plugins.invitations"
    verbose_name = gettext_lazy("Invitations")
    requires = ("plugins.merging",)
    events = {
        "invitation.created": gettext_lazy("%(by)s invited somebody as %(role)s."),
        "invitation.revoked": gettext_lazy("%(by)s revoked an invitation."),
        "invitation.accepted": gettext_lazy("%(by)s accepted an invitation."),
    }
    tools = {
        "invite": AssistantTool(
            "Makes a link by which people join a trip, or mails it.",
            "POST /api/trips/{trip}/invitations",
        )
    }

    def objects(self) -> Mapping[str, TripObject]:
        from plugins.invitations.models import Invitation
        from plugins.invitations.serializers import InvitationSerializer

        rows = Invitation.objects.with_details().select_related("guest")
        return {"invitation": TripObject("trips", rows.all, InvitationSerializer)}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.invitations.models import Invitation
        from plugins.invitations.serializers import ExportedInvitation

        yield PersonalList(
            "invitations",
            ExportedInvitation,
            "The invitations that they made.",
            lambda user: Invitation.objects.filter(created_by=user).order_by("id"),
        )

    def traces(self, account: Any) -> Iterable[QuerySet[Any]]:
        """An ADMIN can invite to trips without being a member."""
        from plugins.invitations.models import of_account

        return [of_account(account)]

    def forget(self, account: Any, by: Any) -> None:
        from plugins.invitations.models import forget

        forget(account, by)

    def revoked(self, trip_id: int, user_id: int, *, is_deleted: bool) -> Iterable[Any]:
        from plugins.invitations.models import revoked

        return revoked(trip_id, user_id, is_deleted=is_deleted)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.invitations.models import Invitation

        yield "invitations", [until(month_ago, Invitation, "expires_at")]
