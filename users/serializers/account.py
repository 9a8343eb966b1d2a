"""Serializers of accounts."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError as DjangoValidationError
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    StrictBoolean,
    StrictText,
    UrlOrPath,
    describe,
)
from tripcompanion.currency.fields import CurrencyField
from tripcompanion.plugin import plugins
from users.emails import MAX_EMAIL_CHARS, email_key
from users.models import (
    MAX_NAME_CHARS,
    MAX_PASSWORD_CHARS,
    MIN_NAME_CHARS,
    MIN_PASSWORD_CHARS,
    Role,
)
from users.models.conflicts import LogInAgain, WrongPassword
from users.models.session import has_just_logged_in
from users.throttles import count_account_change, is_password_of

#: See `Plugin.account_fields`. A field is shown where it was made, so each is copied there.
ADDED = {name: field for app in plugins() for name, field in app.account_fields().items()}


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
    locals().update({name: deepcopy(field.response) for name, field in ADDED.items()})
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


class UserCreateRequest(CamelCaseSerializer):
    """What an account is replaced with; name, address and password are required.

    UserCreateRequestDTO of the full update. The context has the `user`.
    """

    name = user_name(help_text="2 to 50 characters.")
    email = EmailAddress(
        help_text="The address to log in with. Its case does not matter; it must be unique."
    )
    password = NewPassword(help_text="8 to 128 characters, not a common password, used as typed.")
    current_password = Password(
        required=False,
        help_text=(
            "Required for another address or password, unless the user has logged in within the "
            "last ten minutes, or an ADMIN does it for another user."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        _require_owner(self.context, attrs)
        return attrs


class UserUpdateRequest(CamelCaseSerializer):
    """What to change in an account; fields that are not sent stay.

    UserUpdateRequestDTO. The context has the `user`.
    """

    is_flexible = True

    name = user_name(required=False, help_text="2 to 50 characters.")
    email = EmailAddress(
        required=False,
        help_text="The address to log in with. The old address is notified of a change.",
    )
    profile_picture = UrlOrPath(
        required=False, allow_null=True, help_text="An http(s) URL, or a path on the front end."
    )
    currency = CurrencyField(
        required=False, help_text="The currency of new trips and of the total debt."
    )
    locals().update({name: deepcopy(field.request) for name, field in ADDED.items()})
    may_be_added = StrictBoolean(
        required=False,
        help_text="Whether others may add the account to their trips; they can still invite it.",
    )
    current_password = Password(
        required=False,
        help_text=(
            "Required to set a new password, and for another address unless the user has logged "
            "in within the last ten minutes; not of an ADMIN for another user."
        ),
    )
    new_password = NewPassword(
        required=False,
        help_text=(
            "8 to 128 characters, not a common password. It ends all other sessions and tokens."
        ),
    )
    new_password_confirm = Password(
        required=False, help_text="If sent, it must repeat the new password."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for name in ADDED.keys() & attrs.keys():
            attrs |= ADDED[name].stored(attrs.pop(name))
        confirmation = attrs.pop("new_password_confirm", None)
        if confirmation is not None and confirmation != attrs.get("new_password", confirmation):
            raise serializers.ValidationError(
                {"newPasswordConfirm": [_("Does not match the new password.")]}
            )
        if "new_password" in attrs:
            attrs["password"] = attrs.pop("new_password")
        _require_owner(self.context, attrs, log_in_suffices=False)
        return attrs


def _require_owner(
    context: Mapping[str, Any], attrs: dict[str, Any], *, log_in_suffices: bool = True
) -> None:
    """Raise `LogInAgain` or `WrongPassword` unless the owner sets this address and password.

    The proof is the current password, which is removed from `attrs`, or a new password that is the
    same and so changes nothing. For an address, and for a password with `log_in_suffices`, a recent
    log-in is enough. Plugins may ask for more before a new address. An ADMIN needs no proof for
    another user. Raises `Throttled` after too many wrong passwords, or too many changes. A new
    password is hashed.
    """
    user, request = context["user"], context["request"]
    current = attrs.pop("current_password", None)
    email, password = attrs.get("email"), attrs.get("password")
    has_new_email = email is not None and email_key(email) != user.email_key
    if request.user.pk != user.pk or not (has_new_email or password):
        return
    for app in plugins() if has_new_email else ():
        app.require_new_address(request, user)
    if current is not None:
        if not is_password_of(user, current, request):
            raise WrongPassword("currentPassword")
    elif password and not log_in_suffices:
        raise WrongPassword("currentPassword")
    elif not has_just_logged_in(user, request.auth) and not (
        password and is_password_of(user, password, request)
    ):
        raise LogInAgain
    if password:
        attrs["password"] = user.hashed(password)
    if has_new_email or attrs["password"].is_new_to(user.password):
        count_account_change(user, request)


class DeleteAccountRequest(CamelCaseSerializer):
    """The confirmation that an account is to be deleted."""

    password = Password(help_text="The caller's password, so that a stolen token is not enough.")

    def validate_password(self, password: str) -> str:
        if not is_password_of(self.context["user"], password, self.context["request"]):
            raise serializers.ValidationError(_("This is not the current password."))
        return password
