"""Serializers of passkeys. What browsers make and read has the names of WebAuthn."""

from typing import Any

from rest_framework import serializers

from plugins.passkeys.models import MAX_NAME_CHARS
from tripcompanion.api.serializers import CamelCaseSerializer, FixedText, StrictText


class Bytes(StrictText):
    """Bytes in base64url. Parsing them may take the square of their number."""

    def __init__(self, help_text: str, **options: Any) -> None:
        super().__init__(help_text=help_text, max_length=12_000, **options)


class CredentialResponse(CamelCaseSerializer):
    """What an authenticator made (`attestationObject`) or signed (the others)."""

    is_flexible = True

    clientDataJSON = Bytes("What the browser knows.")
    attestationObject = Bytes("The new public key.", required=False)
    authenticatorData = Bytes("What the authenticator says.", required=False)
    signature = Bytes("The signature of both.", required=False)
    userHandle = Bytes("How authenticators name the account.", required=False)


class Credential(CamelCaseSerializer):
    """What `navigator.credentials` gave, as its `toJSON` writes it."""

    is_flexible = True

    rawId = Bytes("The id that the authenticator gave it.")
    response = CredentialResponse(help_text="What the authenticator made or signed.")


class PasskeyLoginRequest(CamelCaseSerializer):
    """A log-in with a passkey."""

    credential = Credential(help_text="The answer to the options of `getPasskeyLoginOptions`.")


class NewPasskeyRequest(CamelCaseSerializer):
    """A passkey to add."""

    credential = Credential(help_text="The answer to the options of `getPasskeyOptions`.")
    name = StrictText(
        max_length=MAX_NAME_CHARS,
        default="Passkey",
        help_text="What the user calls it, such as the device. Default: `Passkey`.",
    )


class PasskeySerializer(CamelCaseSerializer):
    """A passkey."""

    id = serializers.IntegerField(help_text="The id of the passkey.")
    name = serializers.CharField(help_text="What the user calls it; others may be called the same.")
    created_at = serializers.DateTimeField(help_text="When it was added.")
    last_used_at = serializers.DateTimeField(
        source="used_at", allow_null=True, help_text="When it last logged in; null: never."
    )
    blocked_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was blocked: its counter went back, as a copy's does."
    )


class RequestOptions(CamelCaseSerializer):
    """Options of WebAuthn, for `parseRequestOptionsFromJSON`."""

    challenge = serializers.CharField(help_text="It works once, within five minutes.")
    timeout = serializers.IntegerField(help_text="How long it works, in milliseconds.")
    rpId = serializers.CharField(help_text="The domain of the site.")
    userVerification = FixedText("required", help_text="By a finger, a face or a PIN.")


class CreationOptions(CamelCaseSerializer):
    """Options of WebAuthn, for `parseCreationOptionsFromJSON`."""

    challenge = serializers.CharField(help_text="It works once, within five minutes.")
    timeout = serializers.IntegerField(help_text="How long it works, in milliseconds.")
    rp = serializers.DictField(help_text="The site.")
    user = serializers.DictField(help_text="The caller.")
    pubKeyCredParams = serializers.ListField(help_text="The algorithms, the best first.")
    excludeCredentials = serializers.ListField(help_text="The caller's passkeys.")
    authenticatorSelection = serializers.DictField(help_text="What it must be able to do.")
    attestation = FixedText("none", help_text="It need not say who made it.")
