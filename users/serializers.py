"""Serializers of accounts, sessions and tokens."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError as DjangoValidationError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    FixedText,
    StrictChoice,
    StrictList,
    StrictText,
    describe,
)
from tripcompanion.currency.fields import CurrencyField
from users.emails import MAX_EMAIL_CHARS, email_key
from users.mail_templates import NOTICES
from users.models import (
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    MIN_NAME_CHARS,
    MIN_PASSWORD_CHARS,
    NoticeMode,
    Role,
)

MAX_LINK_CHARS = 100
NOTICE_EVENTS = [(event, event) for event in NOTICES]


class EmailAddress(StrictText):
    """An address with an ASCII local part, kept as typed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_EMAIL_CHARS, **kwargs)
        describe(self, {"type": "string", "format": "email", "maxLength": MAX_EMAIL_CHARS})

    def to_internal_value(self, data: Any) -> str:
        email = super().to_internal_value(data)
        try:
            email_key(email)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return email


@extend_schema_field(OpenApiTypes.PASSWORD)
class Password(StrictText):
    """A password as typed, whitespace included. One that is too long is refused before hashing."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            trim_whitespace=False, max_length=MAX_PASSWORD_CHARS, write_only=True, **kwargs
        )


class NewPassword(Password):
    """A password of at least 8 characters that is not a common one; there are no other rules."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=MIN_PASSWORD_CHARS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        password = super().to_internal_value(data)
        # Serializers and forms report its errors.
        validate_password(password)
        return password


def user_name(**kwargs: Any) -> StrictText:
    return StrictText(min_length=MIN_NAME_CHARS, max_length=MAX_NAME_CHARS, **kwargs)


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


_NOTICE_MODES = (
    "`each`: at once, or five minutes after the last such mail; `daily`: one mail a day at 16:00 "
    "UTC; `off`: never."
)


class NoticesSerializer(CamelCaseSerializer):
    """What the account is notified of by mail."""

    email = serializers.ChoiceField(choices=NoticeMode.choices, help_text=_NOTICE_MODES)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=NOTICE_EVENTS),
        help_text="The events that are reported.",
    )


class NoticesRequest(CamelCaseSerializer):
    """When to send mails about the trips of the account, and about what."""

    email = StrictChoice(choices=NoticeMode.choices, help_text=_NOTICE_MODES)
    events = StrictList(
        child=StrictChoice(choices=NOTICE_EVENTS),
        required=False,
        allow_empty=False,
        max_length=len(NOTICES),
        help_text="The events to report. Omitted: as before; at first all of them.",
    )


class UserSerializer(CamelCaseSerializer):
    """An account. The user and an ADMIN see every field; for others some are null, none is missing.

    UserDTO. The context's `hidden` lists the fields to hide.
    """

    id = serializers.IntegerField(help_text="The user's id.")
    name = serializers.CharField(help_text="The display name, seen by everybody.")
    email = serializers.CharField(
        allow_null=True,
        help_text="The address to log in with; null for those who share no trip with the user.",
    )
    role = serializers.ChoiceField(
        choices=Role.choices,
        allow_null=True,
        help_text="`ADMIN` may do what the OWNER of any trip may. Null for other users.",
    )
    profile_picture = serializers.CharField(
        allow_null=True, help_text="A URL or a path on the front end; null if none is set."
    )
    currency = CurrencyField(
        allow_null=True,
        help_text="The currency of new trips and of the total debt. Null for other users.",
    )
    notices = NoticesSerializer(
        allow_null=True, help_text="Which mails the account gets. Null for other users."
    )
    may_be_added = serializers.BooleanField(
        allow_null=True,
        help_text="Whether others may add the account to their trips. Null for other users.",
    )
    created_at = serializers.DateTimeField(
        allow_null=True, help_text="When the account was created. Null for other users."
    )
    updated_at = serializers.DateTimeField(
        allow_null=True, help_text="When the account last changed. Null for other users."
    )

    def to_representation(self, instance: Any) -> dict[str, Any]:
        hidden = self.context.get("hidden", ())
        shape = super().to_representation(instance)
        return {
            name: None if field.source in hidden else shape[name]
            for name, field in self.fields.items()
        }


class UserSummary(CamelCaseSerializer):
    """A user as nested in other objects."""

    id = serializers.IntegerField(help_text="The user's id.")
    name = serializers.CharField(help_text="The display name.")
    email = serializers.CharField(
        source="shown_email",
        allow_null=True,
        help_text=(
            "The address; null for guests and deleted accounts, and for somebody who was added to "
            "a trip and has not answered yet, unless the reader gave it or shares another trip."
        ),
    )
    profile_picture = serializers.CharField(
        allow_null=True, help_text="A URL or a path on the front end; null if none is set."
    )
    guest = serializers.BooleanField(
        source="is_guest", help_text="Whether they take part in the trip without an account."
    )


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
