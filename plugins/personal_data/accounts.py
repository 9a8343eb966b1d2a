"""What is stored about an account itself, for its export."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.plugin import PersonalList


class ExportedLogIn(CamelCaseSerializer):
    """An API session."""

    device = serializers.CharField(help_text="The `User-Agent` header of the login.")
    address = serializers.CharField(help_text="The network address of the login.")
    created_at = serializers.DateTimeField(help_text="When the user logged in.")
    used_at = serializers.DateTimeField(help_text="When it was last used, to within ten minutes.")
    expires_at = serializers.DateTimeField(help_text="When its refresh token expires.")
    ended_at = serializers.DateTimeField(
        allow_null=True, help_text="When the user logged out; null if they did not."
    )


class ExportedToken(CamelCaseSerializer):
    """A scoped token, without its secret."""

    name = serializers.CharField(help_text="What the token is for.")
    hint = serializers.CharField(help_text="The first characters of the token.")
    scopes = serializers.CharField(
        source="scope_words", help_text="The scopes, separated by spaces."
    )
    trip_id = serializers.IntegerField(
        allow_null=True, help_text="The only trip that it gives access to; null for all."
    )
    created_at = serializers.DateTimeField(help_text="When it was created.")
    used_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was last used; null if never."
    )
    expires_at = serializers.DateTimeField(help_text="When it expires.")


LISTS = (
    PersonalList(
        "log_ins",
        ExportedLogIn,
        "The user's API sessions.",
        lambda user: user.sessions.order_by("created_at"),
    ),
    PersonalList(
        "scripts",
        ExportedToken,
        "Their scoped tokens.",
        lambda user: user.scoped_tokens.order_by("id"),
    ),
)
