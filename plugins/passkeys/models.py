"""Passkeys of accounts."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy
from fido2.utils import websafe_encode
from fido2.webauthn import AttestedCredentialData

from plugins.passkeys.ceremonies import CredentialRefused, asserted, created
from plugins.passkeys.mails import PASSKEY_BLOCKED, PASSKEY_NEW
from plugins.passkeys.relying_party import CHALLENGE_LIFETIME
from tripcompanion.api.problems import LimitReached
from tripcompanion.database.models import ThrottleCounter
from users.models import User, user_key
from users.random_tokens import digest_of
from users.signals import sessions_ended
from users.tokens import TokenPair, log_in

MAX_PASSKEYS, MAX_NAME_CHARS = 20, 100


class Passkey(models.Model):
    """A key pair in an authenticator; the service has the public key."""

    user = user_key("passkeys")
    name = models.CharField(gettext_lazy("name"), max_length=MAX_NAME_CHARS)
    #: SHA-256 of the id that the authenticator gave it, in hexadecimal digits.
    digest = models.CharField(max_length=64, unique=True)
    #: The attested credential data of WebAuthn: the model of the authenticator, id and public key.
    credential = models.BinaryField()
    #: How often the authenticator had signed at the last log-in; 0 if it does not count.
    sign_count = models.BigIntegerField()
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    used_at = models.DateTimeField(gettext_lazy("last used at"), null=True)
    #: When the counter went back, as that of a copy does: since then it logs nobody in.
    blocked_at = models.DateTimeField(gettext_lazy("blocked at"), null=True)

    class Meta:
        verbose_name = gettext_lazy("passkey")
        verbose_name_plural = gettext_lazy("passkeys")

    def __str__(self) -> str:
        return self.name

    @property
    def credential_data(self) -> AttestedCredentialData:
        return AttestedCredentialData(bytes(self.credential))

    @classmethod
    def add(cls, user: User, credential: dict[str, Any], name: str) -> "Passkey":
        """Store a new passkey of `user`, and tell them by mail.

        Raises `CredentialRefused` and `LimitReached`.
        """
        challenge, says = created(user, credential)
        made: Any = says.credential_data
        digest = digest_of(websafe_encode(made.credential_id))
        with user.locked(by=user) as owner:
            LimitReached.require_at_most(MAX_PASSKEYS, owner.passkeys.count() + 1)
            _spend(challenge)
            if cls.objects.filter(digest=digest).exists():
                raise CredentialRefused
            owner.mails.tell(owner, PASSKEY_NEW, owner.email or "")
            return owner.passkeys.create(
                name=name, digest=digest, credential=bytes(made), sign_count=says.counter
            )

    def log_in(self, credential: dict[str, Any], request: Any) -> TokenPair:
        """Start a session of the owner, whom the authenticator has verified: two factors in one.

        If the counter went back, block the passkey and tell the owner. Raises `CredentialRefused`,
        and what `User.locked` raises.
        """
        challenge, says = asserted(self.user, self.credential_data, credential)
        with self.user.locked(by=self.user) as account:
            _spend(challenge)
            works = Passkey.objects.filter(pk=self.pk, blocked_at=None)
            is_later = Q(sign_count__lt=says.counter) if says.counter else Q(sign_count=0)
            if works.filter(is_later).update(sign_count=says.counter, used_at=timezone.now()):
                return log_in(account, request, is_complete=True)
            if works.update(blocked_at=timezone.now()):
                account.mails.tell(account, PASSKEY_BLOCKED, account.email or "")
        raise CredentialRefused


@receiver(sessions_ended)
def forget_reclaimed(account: User, *, is_reclaimed: bool, **_about: object) -> None:
    """Remove passkeys that somebody else may have added, who did not own the address."""
    if is_reclaimed:
        account.passkeys.all().delete()


def _spend(challenge: str) -> None:
    """Use a challenge, in the transaction of the effect. Raises `CredentialRefused` if it was."""
    expires_at = timezone.now() + CHALLENGE_LIFETIME
    if ThrottleCounter.add(f"passkey:{digest_of(challenge)}", expires_at.timestamp()) > 1:
        raise CredentialRefused
