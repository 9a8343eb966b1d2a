"""Serializers of accounts and scoped tokens."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers

from tripcompanion.api.serializers import (
    CamelCaseSerializer,
    IdField,
    StrictBoolean,
    StrictChoice,
    StrictInstant,
    StrictList,
    StrictText,
    UrlOrPath,
)
from tripcompanion.currency.fields import CurrencyField
from users.emails import email_key
from users.mail_templates import NOTICES
from users.models import MAX_TOKEN_NAME_CHARS, Session, User, current_language
from users.models.conflicts import LogInAgain, WrongPassword
from users.scopes import CHOICES, Scope
from users.serializers import EmailAddress, NewPassword, NoticesRequest, Password, user_name
from users.throttles import count_account_change, is_password_of

#: How recent a log-in must be to replace the current password.
JUST_LOGGED_IN = timedelta(minutes=10)


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
    notices = NoticesRequest(
        required=False,
        help_text=(
            "Mails about the trips, in the language of this request. Only to a confirmed address, "
            "and never about what the user did."
        ),
    )
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
        if notices := attrs.pop("notices", None):
            attrs |= {"notice_mode": notices["email"], "notice_language": current_language()}
            if chosen := notices.get("events"):
                attrs["notice_events"] = " ".join(event for event in NOTICES if event in chosen)
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
    log-in is enough. An ADMIN needs no proof for another user. Raises `Throttled` after too many
    wrong passwords, or too many changes. A new password is hashed.
    """
    user, request, current = (
        context["user"],
        context["request"],
        attrs.pop("current_password", None),
    )
    email, password = attrs.get("email"), attrs.get("password")
    has_new_email = email is not None and email_key(email) != user.email_key
    if request.user.pk != user.pk or not (has_new_email or password):
        return
    if current is not None:
        if not is_password_of(user, current, request):
            raise WrongPassword("currentPassword")
    elif password and not log_in_suffices:
        raise WrongPassword("currentPassword")
    elif not _has_just_logged_in(user, request.auth) and not (
        password and is_password_of(user, password, request)
    ):
        raise LogInAgain
    if password:
        attrs["password"] = user.hashed(password)
    if has_new_email or attrs["password"].is_new_to(user.password):
        count_account_change(user, request)


def _has_just_logged_in(user: User, session: Any) -> bool:
    at = session.created_at if isinstance(session, Session) else user.last_login
    return at is not None and at > timezone.now() - JUST_LOGGED_IN


class DeleteAccountRequest(CamelCaseSerializer):
    """The confirmation that an account is to be deleted."""

    password = Password(help_text="The caller's password, so that a stolen token is not enough.")

    def validate_password(self, password: str) -> str:
        if not is_password_of(self.context["user"], password, self.context["request"]):
            raise serializers.ValidationError(_("This is not the current password."))
        return password


class ScopedTokenRequest(CamelCaseSerializer):
    """A token to create."""

    name = StrictText(
        max_length=MAX_TOKEN_NAME_CHARS, help_text="What the token is for, at most 100 characters."
    )
    scopes = StrictList(
        child=StrictChoice(choices=CHOICES),
        allow_empty=False,
        max_length=len(Scope),
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
        child=serializers.ChoiceField(choices=CHOICES), help_text="What the token may do."
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
