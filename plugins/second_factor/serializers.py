"""Serializers of the second factor in the API."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer, StrictText

MAX_CODE_CHARS = 20


class CodeRequest(CamelCaseSerializer):
    """A code."""

    code = StrictText(
        max_length=MAX_CODE_CHARS,
        help_text="Six digits from the authenticator app, or a recovery code.",
    )


class OwnCodeRequest(CamelCaseSerializer):
    """The code that the new app shows."""

    code = StrictText(max_length=MAX_CODE_CHARS, help_text="The six digits that the app shows now.")


class SecondFactorLogin(CodeRequest):
    """The challenge of a log-in, and a code."""

    challenge = StrictText(
        max_length=100, help_text="The `challenge` of the log-in that was refused."
    )


class OfferedAppSerializer(CamelCaseSerializer):
    """A new authenticator app, which a code confirms."""

    secret = serializers.CharField(help_text="The key in base32, for people who type it.")
    uri = serializers.CharField(
        source="config_url", help_text="The same as an `otpauth:` URI, for a QR code."
    )


class ConfirmedAppSerializer(CamelCaseSerializer):
    """New recovery codes, which are never shown again."""

    recovery_codes = serializers.ListField(
        child=serializers.CharField(), help_text="Each works once instead of a code of the app."
    )


class SecondFactorSerializer(CamelCaseSerializer):
    """Whether the caller has a second factor."""

    enabled = serializers.BooleanField(help_text="Whether log-ins ask for a code.")
    recovery_codes_left = serializers.IntegerField(help_text="How many are unused.")


class ExportedApp(CamelCaseSerializer):
    """An authenticator app, without its secret."""

    confirmed = serializers.BooleanField(help_text="Whether log-ins ask for its codes.")
    created_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was set up, if that is known."
    )
    last_used_at = serializers.DateTimeField(
        allow_null=True, help_text="When one of its codes was last used."
    )
