"""Serializers of sessions, and of the links in mails."""

from rest_framework import serializers

from tripcompanion.api.serializers import CamelCaseSerializer, FixedText, StrictText
from tripcompanion.plugin import plugins
from users.emails import MAX_EMAIL_CHARS
from users.serializers.account import EmailAddress, NewPassword, Password, UserSerializer, user_name

MAX_LINK_CHARS = 100


class RegisterRequest(CamelCaseSerializer):
    """A new account.

    UserCreateRequestDTO of the specification; the name is optional.
    """

    name = user_name(
        required=False,
        help_text="2 to 50 characters. Default: the part of the address before the @.",
    )
    email = EmailAddress(
        help_text="The address to log in with. Its case does not matter; it must be unique."
    )
    password = NewPassword(help_text="8 to 128 characters, not a common password, used as typed.")


class LoginRequest(CamelCaseSerializer):
    """The credentials of an account.

    LoginRequestDTO. The address is not validated: an invalid one is a failed login (401).
    """

    is_flexible = True

    email = StrictText(
        max_length=MAX_EMAIL_CHARS, help_text="The address of the account, in any case."
    )
    password = Password(help_text="The password, as typed.")


class RefreshRequest(CamelCaseSerializer):
    """The refresh token to exchange."""

    refresh_token = StrictText(
        max_length=4096,
        help_text="The `refreshToken` of the latest login or refresh. It works once.",
    )


class LogoutRequest(RefreshRequest):
    """The refresh token to revoke."""

    is_flexible = True


class PasswordResetRequest(CamelCaseSerializer):
    """The address of the account. The response does not reveal whether it exists."""

    email = EmailAddress(help_text="Where to send the link, if it is the address of an account.")


class NewPasswordRequest(CamelCaseSerializer):
    """The token from the link in the mail, and the new password."""

    token = StrictText(
        max_length=MAX_LINK_CHARS,
        help_text="The last part of the link. It works once, within an hour.",
    )
    new_password = NewPassword(
        help_text="8 to 128 characters, not a common password, used as typed."
    )


class VerifyEmailRequest(CamelCaseSerializer):
    """The token from the link in the mail."""

    token = StrictText(
        max_length=MAX_LINK_CHARS,
        help_text="The last part of the link. It works once, within a week.",
    )


class LoginMethodsSerializer(CamelCaseSerializer):
    """How people can log in. Plugins add fields."""

    password = serializers.BooleanField(help_text="With address and password: always.")
    added = {name: each for app in plugins() for name, each in app.login_methods().items()}
    locals().update({name: method.shape for name, method in added.items()})


class LoginResponse(CamelCaseSerializer):
    """A pair of tokens, and the user to whom they belong.

    LoginResponseDTO.
    """

    token = serializers.CharField(
        help_text="The access token, for the header `Authorization: Bearer <token>`."
    )
    type = FixedText("Bearer", help_text="The scheme of the access token.")
    expires_in = serializers.IntegerField(
        help_text="How long the access token is valid, in seconds."
    )
    refresh_token = serializers.CharField(
        help_text="Exchange it for a new pair before it expires. It works once."
    )
    refresh_expires_in = serializers.IntegerField(
        help_text="How long the refresh token is valid, in seconds."
    )
    user = UserSerializer(help_text="The account that logged in, with every field.")


class SessionSerializer(CamelCaseSerializer):
    """A login that is still valid."""

    id = serializers.UUIDField(help_text="The id of the session, to end it.")
    device = serializers.CharField(help_text="The `User-Agent` header of the login.")
    address = serializers.CharField(help_text="The network address of the login.")
    created_at = serializers.DateTimeField(help_text="When the user logged in.")
    last_used_at = serializers.DateTimeField(
        source="used_at", help_text="When it was last used, to within ten minutes."
    )
    expires_at = serializers.DateTimeField(help_text="When its refresh token expires.")
    current = serializers.BooleanField(help_text="Whether this request uses this session.")
