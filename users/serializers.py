"""Shapes of accounts, log-ins and tokens."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError as DjangoValidationError
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from tripcompanion.kit.serializers import (
    CurrencyField,
    IdField,
    Shape,
    StrictChoice,
    StrictInstant,
    StrictText,
    UrlOrPath,
    example,
)
from users.emails import MAX_EMAIL_CHARS, email_key
from users.limits import is_password_of
from users.models import (
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    MAX_TOKEN_NAME_CHARS,
    MIN_PASSWORD_CHARS,
    Role,
)
from users.scopes import Scope

USER_EXAMPLE = {
    "id": 1,
    "name": "Olga Owner",
    "email": "olga@example.com",
    "role": "USER",
    "profilePicture": None,
    "currency": "EUR",
    "createdAt": "2026-05-01T09:30:00Z",
    "updatedAt": "2026-05-01T09:30:00Z",
}
SUMMARY_EXAMPLE = {key: USER_EXAMPLE[key] for key in ("id", "name", "email", "profilePicture")}
PASSWORD_EXAMPLE = "four-green-suitcases"  # noqa: S105
LINK_EXAMPLE = "vT0yPSb5VQ0J6Xn5eH3nJm2c1nQ4b0m8v1sD7kK9wQE"
MAX_LINK_CHARS = 100
TOKEN_EXAMPLE = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.signature"  # noqa: S105


class EmailAddress(StrictText):
    """An address with an ASCII local part, kept as typed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_EMAIL_CHARS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        email = super().to_internal_value(data)
        try:
            email_key(email)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return email


class Password(StrictText):
    """A password exactly as typed, blanks included; too long is refused before any hashing."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            trim_whitespace=False, max_length=MAX_PASSWORD_CHARS, write_only=True, **kwargs
        )


class NewPassword(Password):
    """At least 8 characters and none of the common ones; no other rule."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=MIN_PASSWORD_CHARS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        password = super().to_internal_value(data)
        try:
            validate_password(password)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return password


def _name(**kwargs: Any) -> StrictText:
    return StrictText(min_length=2, max_length=MAX_NAME_CHARS, **kwargs)


@example({"name": "Olga Owner", "email": "olga@example.com", "password": PASSWORD_EXAMPLE})
class RegisterRequest(Shape):
    """UserCreateRequestDTO at registration; the name may be left out."""

    name = _name(required=False)
    email = EmailAddress()
    password = NewPassword()


@example({"name": "Olga Owner", "email": "olga@example.com", "password": PASSWORD_EXAMPLE})
class UserCreateRequest(Shape):
    """UserCreateRequestDTO of the full update: all three."""

    name = _name()
    email = EmailAddress()
    password = NewPassword()


@example({"currency": "JPY", "profilePicture": "/pictures/olga.webp"})
class UserUpdateRequest(Shape):
    """UserUpdateRequestDTO: any of its fields; `null` clears the picture.

    The view passes `must_prove` in the context: whether a new password needs the current one.
    """

    name = _name(required=False)
    email = EmailAddress(required=False)
    profile_picture = UrlOrPath(required=False, allow_null=True)
    currency = CurrencyField(required=False)
    current_password = Password(required=False)
    new_password = NewPassword(required=False)
    new_password_confirm = Password(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        current = attrs.pop("current_password", None)
        confirmation = attrs.pop("new_password_confirm", None)
        if "new_password" not in attrs:
            return attrs
        attrs["password"] = attrs.pop("new_password")
        if confirmation is not None and confirmation != attrs["password"]:
            raise serializers.ValidationError(
                {"newPasswordConfirm": [_("Differs from the new password.")]}
            )
        user, request = self.context["user"], self.context["request"]
        if self.context["must_prove"] and not (current and is_password_of(user, current, request)):
            raise serializers.ValidationError(
                {"currentPassword": [_("This is not the current password.")]}
            )
        return attrs


@example({"email": "olga@example.com", "password": PASSWORD_EXAMPLE})
class LoginRequest(Shape):
    """LoginRequestDTO. The address is not checked: a wrong one is a wrong log-in, 401."""

    email = StrictText(max_length=MAX_EMAIL_CHARS)
    password = Password()


@example({"refreshToken": TOKEN_EXAMPLE})
class RefreshRequest(Shape):
    """The refresh token that is to be spent or, at logout, ended."""

    refresh_token = StrictText(max_length=4096)


@example({"email": "olga@example.com"})
class PasswordResetRequest(Shape):
    """Whose password is lost. Whether there is such an account is not told."""

    email = EmailAddress()


@example({"token": LINK_EXAMPLE, "newPassword": PASSWORD_EXAMPLE})
class NewPasswordRequest(Shape):
    """The token of the link in the mail, and the password to set."""

    token = StrictText(max_length=MAX_LINK_CHARS)
    new_password = NewPassword()


@example({"token": LINK_EXAMPLE})
class VerifyEmailRequest(Shape):
    """The token of the link in the mail."""

    token = StrictText(max_length=MAX_LINK_CHARS)


@example({"password": PASSWORD_EXAMPLE})
class DeleteAccountRequest(Shape):
    """One's own password: a borrowed token must not be enough."""

    password = Password()

    def validate_password(self, password: str) -> str:
        if not is_password_of(self.context["user"], password, self.context["request"]):
            raise serializers.ValidationError(_("This is not the current password."))
        return password


@example(USER_EXAMPLE)
class UserSerializer(Shape):
    """UserDTO. Fields in the context's `hidden` are null; the shape never changes."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    email = serializers.CharField(allow_null=True)
    role = serializers.ChoiceField(choices=Role.choices, allow_null=True)
    profile_picture = serializers.CharField(allow_null=True)
    currency = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)
    updated_at = serializers.DateTimeField(allow_null=True)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        hidden = self.context.get("hidden", ())
        shape = super().to_representation(instance)
        return {
            name: None if field.source in hidden else shape[name]
            for name, field in self.fields.items()
        }


@example(SUMMARY_EXAMPLE)
class UserSummary(Shape):
    """How a user appears inside other objects."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    email = serializers.CharField(allow_null=True)
    profile_picture = serializers.CharField(allow_null=True)


@example(
    {
        "token": TOKEN_EXAMPLE,
        "type": "Bearer",
        "expiresIn": 28800,
        "refreshToken": TOKEN_EXAMPLE,
        "refreshExpiresIn": 2592000,
        "user": USER_EXAMPLE,
    }
)
class LoginResponse(Shape):
    """LoginResponseDTO: a pair of tokens, their lifetimes in seconds, and whose they are."""

    token = serializers.CharField()
    type = serializers.CharField()
    expires_in = serializers.IntegerField()
    refresh_token = serializers.CharField()
    refresh_expires_in = serializers.IntegerField()
    user = UserSerializer()


@example(
    {
        "id": "0c9d2c1e-6f0b-4a58-9b1c-3d2f5f1f3a77",
        "device": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
        "address": "203.0.113.7",
        "createdAt": "2026-05-01T09:30:00Z",
        "lastUsedAt": "2026-05-14T18:20:00Z",
        "expiresAt": "2026-06-13T18:20:00Z",
        "current": True,
    }
)
class SessionSerializer(Shape):
    """A log-in that is alive. `lastUsedAt` is exact to ten minutes."""

    id = serializers.UUIDField()
    device = serializers.CharField(help_text="The `User-Agent` at the log-in.")
    address = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(source="used_at")
    expires_at = serializers.DateTimeField()
    current = serializers.BooleanField(help_text="Whether this request was made with it.")


SCOPED_TOKEN_EXAMPLE = {
    "id": 3,
    "name": "Import from the bank",
    "scopes": ["trips:read", "expenses:write"],
    "tripId": 7,
    "hint": "tc_h3Zqv",
    "createdAt": "2026-05-01T09:30:00Z",
    "expiresAt": "2026-07-30T09:30:00Z",
    "lastUsedAt": None,
}
_SCOPES = [(scope.value, scope.value) for scope in Scope]


@example({key: SCOPED_TOKEN_EXAMPLE[key] for key in ("name", "scopes", "tripId", "expiresAt")})
class ScopedTokenRequest(Shape):
    """A token to make. Without `expiresAt` it is good for 90 days, with it at most for 365."""

    name = StrictText(max_length=MAX_TOKEN_NAME_CHARS)
    scopes = serializers.ListField(
        child=StrictChoice(choices=_SCOPES), allow_empty=False, max_length=len(Scope)
    )
    trip_id = IdField(
        required=False, allow_null=True, help_text="It sees this trip alone; null is all of them."
    )
    expires_at = StrictInstant(required=False, allow_null=True)


@example(SCOPED_TOKEN_EXAMPLE)
class ScopedTokenSerializer(Shape):
    """A scoped token; `hint` is how it begins, `lastUsedAt` is exact to ten minutes."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=_SCOPES))
    trip_id = serializers.IntegerField(allow_null=True)
    hint = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(source="used_at", allow_null=True)


@example({**SCOPED_TOKEN_EXAMPLE, "token": "tc_h3ZqvK0c1Y8mB5wXo2dTnR7uJfLaPeSgVi9kQyWzMtE"})
class NewScopedTokenSerializer(ScopedTokenSerializer):
    """A scoped token at its making, the only time that the token itself is shown."""

    token = serializers.CharField()
