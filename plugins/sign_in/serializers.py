"""Serializers of providers, of their tokens, and of linked accounts."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer, StrictText

MAX_TOKEN_CHARS = 10_000


class OidcProviderSerializer(CamelCaseSerializer):
    """An OpenID provider whose identity tokens log in."""

    provider = serializers.CharField(help_text="Its key, for `logInWithProvider`.")
    name = serializers.CharField(help_text="What people call it.")
    client_id = serializers.CharField(help_text="The client that its tokens must be for.")
    issuer = serializers.CharField(help_text="Its issuer, where its discovery document is.")


class NonceSerializer(CamelCaseSerializer):
    """A nonce for the request to a provider."""

    nonce = serializers.CharField(help_text="The `nonce` that the identity token must have.")
    expires_in = serializers.IntegerField(help_text="How long it is valid, in seconds.")


class IdTokenRequest(CamelCaseSerializer):
    """An identity token of a provider."""

    provider = StrictText(max_length=32, help_text="The key of the provider.")
    id_token = StrictText(
        max_length=MAX_TOKEN_CHARS,
        help_text="Its identity token (a JWT), with a nonce of `createLoginNonce`.",
    )


class IdentitySerializer(CamelCaseSerializer):
    """An account of a provider that logs in to an account here."""

    id = serializers.IntegerField(help_text="The id of the link, to remove it.")
    provider = serializers.CharField(
        allow_null=True, help_text="The key of the provider; null if it is not set up any more."
    )
    issuer = serializers.CharField(help_text="The issuer of the provider.")
    subject = serializers.CharField(help_text="What the provider calls the account.")
    email = serializers.CharField(
        help_text="Its address when it was linked; empty if the provider had not verified it."
    )
    created_at = serializers.DateTimeField(help_text="When it was linked.")
    used_at = serializers.DateTimeField(
        allow_null=True, help_text="When it last logged in; null if never."
    )
