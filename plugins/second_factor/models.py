"""The second factor of an account: an authenticator app (TOTP, RFC 6238) and recovery codes.

django-otp's devices verify codes, refuse used ones and slow down guesses. Here they store neither
the seed of an app nor a recovery code, so whoever reads the database or a backup learns no code
without the SECRET_KEY. A new SECRET_KEY invalidates all apps and recovery codes.
"""

import secrets
from base64 import b32encode
from typing import TYPE_CHECKING, Any, Self

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import NotAuthenticated, Throttled

from users.models import User

if TYPE_CHECKING:
    from django_otp.models import Device

RECOVERY_CODES = 10
_CODE_DIGITS = 12
_SEED_BYTES = 20
_DIGEST_BYTES = 10


class AuthenticatorApp(TOTPDevice):
    """The app that shows the codes of an account; at most one for each account.

    `key` is a random salt. The seed is derived from it and from the SECRET_KEY.
    """

    class Meta:
        proxy = True

    @property
    def bin_key(self) -> bytes:
        """The seed that the app and the service share."""
        return _keyed_hash("users.AuthenticatorApp", self.key)[:_SEED_BYTES]

    @property
    def seed(self) -> str:
        """The seed as apps let users type it, in groups of four characters."""
        text = b32encode(self.bin_key).decode()
        return " ".join(text[at : at + 4] for at in range(0, len(text), 4))

    @classmethod
    def of(cls, user: User) -> Self | None:
        """The app of `user`; None if there is no second factor."""
        return cls.objects.filter(user=user.pk).order_by("pk").first()

    @classmethod
    def set_up(
        cls, user: User, key: str, code: str, *, instead_of: Self | None
    ) -> tuple[Self, list[str]] | None:
        """Store the app that shows `code`; return it and its recovery codes, None if it is wrong.

        It replaces the app `instead_of`. Raises `NotAuthenticated` if that is no longer the app.
        """
        with user.locked(by=user) as account:
            _require_current(instead_of, account)
            app = cls.objects.create(user=account, name="Authenticator", key=key)
            if not app.verify_token(code):
                app.delete()
                return None
            if instead_of is not None:
                instead_of.delete()
            _log(account, "Second factor set up.")
            return app, RecoveryCodes.issue(account)

    @classmethod
    def accepts(cls, user: User, code: str) -> Self | None:
        """The app of `user` if `code` is one of its codes, or an unused recovery code.

        A code is accepted once. Raises `Throttled` after wrong codes, for 1, 2, 4, 8 … seconds.
        """
        with user.locked(by=user) as account:
            is_of_app = len(code) == 6 and code.isascii() and code.isdecimal()
            kind: type[Device] = cls if is_of_app else RecoveryCodes
            device = kind.objects.filter(user=account).order_by("pk").first()
            if device is None:
                return None
            is_allowed, reason = device.verify_is_allowed()
            if not is_allowed:
                raise Throttled((reason["locked_until"] - timezone.now()).total_seconds())
            if not device.verify_token(code):
                return None
            if not is_of_app:
                _log(account, "Recovery code used.")
            return cls.of(account)

    def renew_codes(self, user: User) -> list[str]:
        """Replace the recovery codes of `user`, whose app this is, and return the new ones."""
        with user.locked(by=user) as account:
            _require_current(self, account)
            _log(account, "New recovery codes.")
            return RecoveryCodes.issue(account)

    def remove(self, user: User) -> None:
        """Remove the second factor of `user`, whose app this is."""
        with user.locked(by=user) as account:
            _require_current(self, account)
            _remove(account)

    @classmethod
    def reset(cls, user: User) -> bool:
        """Remove the second factor of a user who has lost it; return whether there was one.

        It ends all sessions, because whoever found the device may have one.
        """
        with user.locked(by=None) as account:
            if cls.of(account) is None:
                return False
            _remove(account)
            account.log_out_everywhere(by=None)
            return True


class RecoveryCodes(StaticDevice):
    """The recovery codes of an account, stored as hashes. Each works once."""

    class Meta:
        proxy = True

    @classmethod
    def issue(cls, account: User) -> list[str]:
        """Replace the codes of a locked account; return the new ones, which are not stored."""
        cls.objects.filter(user=account).delete()
        device = cls.objects.create(user=account, name="Recovery codes")
        # Digits, because phones show the keyboard for digits.
        numbers = [secrets.randbelow(10**_CODE_DIGITS) for _code in range(RECOVERY_CODES)]
        codes = [f"{number:0{_CODE_DIGITS}}" for number in numbers]
        StaticToken.objects.bulk_create(
            StaticToken(device=device, token=_code_hash(code)) for code in codes
        )
        return codes

    @classmethod
    def remaining(cls, user: User) -> int:
        return StaticToken.objects.filter(device__user=user.pk).count()

    def verify_token(self, token: str) -> bool:
        return super().verify_token(_code_hash(token))


def _keyed_hash(purpose: str, value: str) -> bytes:
    return salted_hmac(purpose, value, algorithm="sha256").digest()


def _code_hash(code: str) -> str:
    """16 characters, as many as django-otp's column has."""
    return b32encode(_keyed_hash("users.RecoveryCodes", code)[:_DIGEST_BYTES]).decode()


def _require_current(app: AuthenticatorApp | None, account: User) -> None:
    """Raise `NotAuthenticated` if another request has set up or removed the app since."""
    current = AuthenticatorApp.of(account)
    if current != app:
        raise NotAuthenticated


def _remove(account: User) -> None:
    forget(account)
    _log(account, "Second factor removed.")


def forget(account: User) -> None:
    """Delete the app and the recovery codes of an account that ends."""
    for kind in (AuthenticatorApp, RecoveryCodes):
        kind.objects.filter(user=account).delete()


def _log(account: Any, text: str) -> None:
    """Add to the log of the admin site, by id: the log outlives the account's data."""
    LogEntry.objects.create(
        user_id=account.pk,
        content_type=ContentType.objects.get_for_model(account),
        object_id=str(account.pk),
        object_repr=f"#{account.pk}",
        action_flag=CHANGE,
        change_message=text,
    )
