"""Serializers of invitations."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from plugins.fields import BoundedNumber
from plugins.invitations.models import MAX_NOTE_CHARS, MAX_USES, InvitationState
from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictChoice,
    StrictInstant,
    StrictText,
)
from trips.models import CODE_CHARS
from trips.roles import DEFAULT_ROLE, TripRole
from users.serializers.account import EmailAddress, UserSummary


class InvitationRequest(CamelCaseSerializer):
    """Whom to invite, and to what."""

    role = StrictChoice(
        choices=TripRole.choices,
        default=DEFAULT_ROLE,
        help_text="The role of those who accept, not above the caller's own. Default: `VIEWER`.",
    )
    email = EmailAddress(
        required=False,
        allow_null=True,
        help_text=(
            "Where to send a mail with the link. Only the account with this address may accept, "
            "once it is confirmed. Null or omitted: everybody may who has the link."
        ),
    )
    guest_user_id = IdField(
        required=False,
        allow_null=True,
        help_text=(
            "A guest whose place the account takes that accepts: all entries of the guest become "
            "its own. Null or omitted: it becomes one more member."
        ),
    )
    note = StrictText(
        max_length=MAX_NOTE_CHARS,
        allow_blank=True,
        default="",
        help_text="For the list of invitations, at most 200 characters. Default: empty.",
    )
    expires_at = StrictInstant(
        required=False,
        allow_null=True,
        help_text="At most 90 days from now. Default: 14 days from now.",
    )
    max_uses = BoundedNumber(
        maximum=MAX_USES,
        required=False,
        allow_null=True,
        help_text=(
            "How many may accept. Null or omitted: any number; with `email` or "
            "`guestUserId`, always one."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_for_one = any(attrs.get(name) is not None for name in ("email", "guest_user_id"))
        if is_for_one and (attrs.get("max_uses") or 1) > 1:
            raise serializers.ValidationError(
                {"maxUses": [_("An invitation for one person works once.")]}
            )
        return attrs


class InvitationSerializer(CamelCaseSerializer):
    """An invitation to a trip, without its token."""

    id = serializers.IntegerField(help_text="The invitation's id, to revoke it.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    role = serializers.ChoiceField(
        choices=TripRole.choices, help_text="The role of those who accept."
    )
    email = serializers.CharField(
        allow_null=True, help_text="The only address that may accept; null for any account."
    )
    guest = UserSummary(
        allow_null=True,
        help_text="Whose place the account takes that accepts; null for one more member.",
    )
    note = serializers.CharField(help_text="A note for the list; may be empty.")
    expires_at = serializers.DateTimeField(help_text="When it expires.")
    max_uses = serializers.IntegerField(
        allow_null=True, help_text="How many may accept; null for any number."
    )
    uses = serializers.IntegerField(help_text="How many accepted it.")
    created_by = UserSummary(help_text="Who invites.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
    state = serializers.ChoiceField(
        choices=InvitationState.choices,
        help_text=(
            "`open` if it can be accepted. It is `revoked`, too, once the one who made it may no "
            "longer add members."
        ),
    )


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation. Only this response contains its token."""

    token = serializers.CharField(help_text="For `acceptInvitation`. It is not shown again.")
    link = serializers.CharField(help_text="The page of the front end that accepts the invitation.")


class InvitationPreview(CamelCaseSerializer):
    """What an invitation reveals to somebody who may want to accept it."""

    title = serializers.CharField(source="trip.title", help_text="The title.")
    destination = serializers.CharField(source="trip.destination", help_text="Where the trip goes.")
    start_date = serializers.DateField(source="trip.start_date", help_text="The first day.")
    end_date = serializers.DateField(source="trip.end_date", help_text="The last day.")
    invited_by = serializers.CharField(source="created_by.name", help_text="Who invites.")
    member_count = serializers.IntegerField(help_text="How many members the trip has now.")
    role = serializers.ChoiceField(
        choices=TripRole.choices, help_text="The role of those who accept."
    )


class ExportedInvitation(CamelCaseSerializer):
    """An invitation that the user made, without its token."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    role = serializers.ChoiceField(
        choices=TripRole.choices, help_text="The role of those who accept."
    )
    email = serializers.CharField(
        allow_null=True, help_text="The address that it was sent to; null if it is a link only."
    )
    note = serializers.CharField(help_text="May be empty.")
    uses = serializers.IntegerField(help_text="How many accepted it.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
    expires_at = serializers.DateTimeField(help_text="When it expires.")


class TripPreview(CamelCaseSerializer):
    """What a trip code reveals to somebody who may want to join."""

    title = serializers.CharField(help_text="The title.")
    destination = serializers.CharField(help_text="Where the trip goes.")
    start_date = serializers.DateField(help_text="The first day.")
    end_date = serializers.DateField(help_text="The last day.")
    member_count = serializers.IntegerField(help_text="How many members the trip has now.")


class JoinRequest(CamelCaseSerializer):
    """The code of the trip to join."""

    trip_code = StrictText(
        max_length=CODE_CHARS, help_text="The 8 characters of the code, in any case."
    )
