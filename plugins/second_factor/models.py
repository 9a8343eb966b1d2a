"""The second factor of an account: an authenticator app (TOTP, RFC 6238) and recovery codes.

django-otp's devices verify codes, refuse used ones and slow down guesses. Here they store neither
the seed of an app nor a recovery code, so whoever reads the database or a backup learns no code
without the SECRET_KEY. A new SECRET_KEY invalidates all apps and recovery codes.
"""

import re
import secrets
from base64 import b32encode
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.db.models import F
from django.dispatch import receiver
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext_lazy
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound, Throttled

from tripcompanion.api.problems import Conflict
from users.models import User
from users.random_tokens import digest_of, new_token
from users.signals import sessions_ended

if TYPE_CHECKING:
    from django_otp.models import Device

RECOVERY_CODES = 10
#: How many wrong codes in a row cost no time; as many end a challenge.
FREE_CODES = 5
#: The longest time after a wrong code, so that whoever has the password cannot lock the owner out
#: for long.
MOST_SECONDS = 15 * 60
CHALLENGE_LIFETIME = timedelta(minutes=5)
_CODE_DIGITS = 12
_SEED_BYTES = 20
_DIGEST_BYTES = 10


class SecondFactorExists(Conflict):
    """409 `second_factor_exists`: the account has one; it is removed before another is set up."""

    default_code = "second_factor_exists"
    default_detail = gettext_lazy("You have a second factor already; remove it first.")


class NothingOffered(Conflict):
    """409 `no_second_factor`: no app was set up that a code could confirm."""

    default_code = "no_second_factor"
    default_detail = gettext_lazy("Set up an authenticator app first.")


class ChallengeEnded(AuthenticationFailed):
    """401 `challenge_ended`: it is unknown, used or too old, or had five wrong codes."""

    default_code = "challenge_ended"
    default_detail = gettext_lazy("Please log in again from the start.")


class SecondFactor(NamedTuple):
    """What an account has."""

    enabled: bool
    recovery_codes_left: int

    @classmethod
    def of(cls, user: User) -> Self:
        return cls(AuthenticatorApp.of(user) is not None, RecoveryCodes.remaining(user))


class NewCodes(NamedTuple):
    """Recovery codes as they are shown, once."""

    recovery_codes: list[str]


class AuthenticatorApp(TOTPDevice):
    """The app that shows the codes of an account; at most one for each account.

    `key` is a random salt. The seed is derived from it and from the SECRET_KEY.
    """

    class Meta:
        proxy = True

    def get_throttle_factor(self) -> float:
        return _slowness(self)

    @property
    def bin_key(self) -> bytes:
        """The seed that the app and the service share."""
        return _keyed_hash("users.AuthenticatorApp", self.key)[:_SEED_BYTES]

    @property
    def secret(self) -> str:
        """The seed in base32."""
        return b32encode(self.bin_key).decode()

    @property
    def seed(self) -> str:
        """The seed as apps let users type it, in groups of four characters."""
        text = self.secret
        return " ".join(text[at : at + 4] for at in range(0, len(text), 4))

    @classmethod
    def of(cls, user: User) -> Self | None:
        """The app of `user`; None if there is no second factor."""
        return cls.objects.filter(user=user.pk, confirmed=True).order_by("pk").first()

    @classmethod
    def offer(cls, user: User) -> Self:
        """Replace what was offered to `user` before with a new app, which a code confirms.

        Raises `SecondFactorExists`.
        """
        with user.locked(by=user) as account:
            if cls.of(account):
                raise SecondFactorExists
            cls.objects.filter(user=account).delete()
            return cls.objects.create(user=account, name="Authenticator", confirmed=False)

    @classmethod
    def confirm(cls, user: User, code: str) -> NewCodes | None:
        """Turn on the app that was offered and shows `code`; None if the code is wrong.

        Raises `NothingOffered`, and `Throttled` after wrong codes.
        """
        with user.locked(by=user) as account:
            app = cls.objects.filter(user=account, confirmed=False).first()
            if app is None:
                raise NothingOffered
            _require_allowed(app)
            if not app.verify_token(without_spaces(code)):
                return None
            app.confirmed = True
            app.save(update_fields=["confirmed"])
            _log(account, "Second factor set up.")
            return NewCodes([in_groups(code) for code in RecoveryCodes.issue(account)])

    @classmethod
    def set_up(
        cls, user: User, key: str, code: str, *, instead_of: Self | None
    ) -> tuple[Self, list[str]] | None:
        """Store the app that shows `code`; return it and its recovery codes, None if it is wrong.

        It replaces the app `instead_of`. Raises `NotAuthenticated` if that is no longer the app.
        """
        with user.locked(by=user) as account:
            _require_current(instead_of, account)
            cls.objects.filter(user=account, confirmed=False).delete()
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

        Spaces, hyphens and case are ignored, and a code is accepted once. From the fifth wrong code
        in a row, raises `Throttled` for 1, 2, 4, 8 … seconds, at most `MOST_SECONDS`.
        """
        code = without_spaces(code)
        with user.locked(by=user) as account:
            is_of_app = len(code) == 6 and code.isascii() and code.isdecimal()
            kind: type[Device] = cls if is_of_app else RecoveryCodes
            device = kind.objects.filter(user=account, confirmed=True).order_by("pk").first()
            if device is None:
                return None
            _require_allowed(device)
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
    def remove_with(cls, user: User, code: str) -> bool:
        """Remove the second factor of `user` if `code` is right; return whether it was.

        Raises `NotFound` without one, and what `accepts` raises.
        """
        with user.locked(by=user) as account:
            if cls.of(account) is None:
                raise NotFound
            if cls.accepts(account, code) is None:
                return False
            _remove(account)
            return True

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

    def get_throttle_factor(self) -> float:
        return _slowness(self)

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


class Challenge(models.Model):
    """A log-in to the API that lacks the second factor. Its token is stored as a hash.

    It lasts `CHALLENGE_LIFETIME`, and ends with `FREE_CODES` wrong codes or another password.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    #: The account's hash when the first factor was right.
    auth_hash = models.CharField(max_length=128)
    wrong_codes = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"of {self.user_id} until {self.expires_at}"

    @classmethod
    def start(cls, user: User) -> str:
        """The token of a new challenge of `user`."""
        token = new_token()
        cls.objects.create(
            user=user,
            digest=digest_of(token),
            auth_hash=user.get_session_auth_hash(),
            expires_at=timezone.now() + CHALLENGE_LIFETIME,
        )
        return token

    @classmethod
    def of(cls, token: str) -> Self:
        """The challenge of `token`, with its user; raises `ChallengeEnded`."""
        rows = cls.objects.filter(digest=digest_of(token), expires_at__gt=timezone.now())
        challenge = rows.select_related("user").first()
        if challenge is None or not constant_time_compare(
            challenge.auth_hash, challenge.user.get_session_auth_hash()
        ):
            raise ChallengeEnded
        return challenge

    def accepts(self, code: str) -> bool:
        """Whether `code` is right, which ends the challenge; a wrong one is counted.

        Raises `ChallengeEnded`, also if the account was deactivated, and `Throttled`.
        """
        try:
            with self.user.locked(by=self.user) as account:
                this = Challenge.objects.filter(pk=self.pk)
                if not this.exists():
                    raise ChallengeEnded
                is_right = AuthenticatorApp.accepts(account, code) is not None
                if not is_right:
                    this.update(wrong_codes=F("wrong_codes") + 1)
                    this = this.filter(wrong_codes__gte=FREE_CODES)
                this.delete()
                return is_right
        except (NotAuthenticated, NotFound) as error:
            raise ChallengeEnded from error


def without_spaces(code: str) -> str:
    """A code without what people type between its digits, in lower case."""
    return re.sub(r"[\s-]", "", code).lower()


def in_groups(code: str) -> str:
    """A recovery code as it is shown: three groups of four digits."""
    return f"{code[:4]}-{code[4:8]}-{code[8:]}"


def _slowness(device: Any) -> float:
    """The factor that makes the fifth wrong code in a row cost one second; see django-otp.

    It doubles the time with each, so from `MOST_SECONDS` on, the factor falls.
    """
    count = device.throttling_failure_count
    return (
        0 if count < FREE_CODES else min(2.0 ** (1 - FREE_CODES), MOST_SECONDS * 2.0 ** (1 - count))
    )


def _require_allowed(device: "Device") -> None:
    is_allowed, reason = device.verify_is_allowed()
    if not is_allowed:
        raise Throttled((reason["locked_until"] - timezone.now()).total_seconds())


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
    """Delete the app, the recovery codes and the challenges of an account that ends."""
    for kind in (AuthenticatorApp, RecoveryCodes, Challenge):
        kind.objects.filter(user=account).delete()


@receiver(sessions_ended)
def forget_reclaimed(account: User, *, is_reclaimed: bool, **_about: object) -> None:
    """Remove a second factor that somebody else may have set up, who did not own the address."""
    if is_reclaimed:
        forget(account)


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
