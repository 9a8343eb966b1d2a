"""Serializers of scoped tokens."""

from rest_framework import serializers

from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictChoice,
    StrictInstant,
    StrictList,
    StrictText,
)
from users.models import MAX_TOKEN_NAME_CHARS
from users.scopes import all_scopes, choices


class ScopedTokenRequest(CamelCaseSerializer):
    """A token to create."""

    name = StrictText(
        max_length=MAX_TOKEN_NAME_CHARS, help_text="What the token is for, at most 100 characters."
    )
    scopes = StrictList(
        child=StrictChoice(choices=choices()),
        allow_empty=False,
        max_length=len(all_scopes()),
        help_text="What the token may do. Write scope does not imply read.",
    )
    trip_id = IdField(
        required=False,
        allow_null=True,
        help_text="The only trip that it gives access to; null for all trips of the caller.",
    )
    expires_at = StrictInstant(
        required=False,
        allow_null=True,
        help_text="At most 365 days from now. Default: 90 days from now.",
    )


class ScopedTokenSerializer(CamelCaseSerializer):
    """A token for scripts, without the token itself."""

    id = serializers.IntegerField(help_text="The token's id, to revoke it.")
    name = serializers.CharField(help_text="What the token is for.")
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=choices()), help_text="What the token may do."
    )
    trip_id = serializers.IntegerField(
        allow_null=True,
        help_text="The only trip that it gives access to; null for all trips of its owner.",
    )
    hint = serializers.CharField(help_text="The first characters of the token, to recognise it by.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
    expires_at = serializers.DateTimeField(help_text="When it expires.")
    last_used_at = serializers.DateTimeField(
        source="used_at",
        allow_null=True,
        help_text="When it was last used, to within ten minutes; null if never.",
    )


class NewScopedTokenSerializer(ScopedTokenSerializer):
    """A new scoped token. Only this response contains the token itself."""

    token = serializers.CharField(
        help_text="The token itself, for `Authorization: Bearer <token>`. It is not shown again."
    )
