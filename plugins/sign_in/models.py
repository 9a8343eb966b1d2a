"""The accounts of providers with which people log in."""

from datetime import timedelta
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import models, transaction
from django.db.models import Q
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound

from plugins.sign_in.id_tokens import MAX_SUBJECT_CHARS, NONCE_SECONDS, IdToken, TokenRefused
from plugins.sign_in.providers import MAX_ISSUER_CHARS
from tripcompanion.api.problems import Conflict
from tripcompanion.database.models import ThrottleCounter
from users.emails import MAX_EMAIL_CHARS
from users.models import EmailTaken, User, user_key
from users.passwords import HashedPassword
from users.random_tokens import digest_of
from users.signals import sessions_ended

LOG_IN_LINKED = "LOG_IN_LINKED"


class LinkFirst(Conflict):
    """409 `link_first`: log in in another way, then link this provider with `linkIdentity`.

    The token is not used up, so it can be sent there.
    """

    default_code = "link_first"
    default_detail = gettext_lazy(
        "Please log in to your account in another way, and link this provider there."
    )


class IdentityTaken(Conflict):
    """409 `identity_taken`: the caller or somebody else has linked this account, or another of it.

    An account here has one of each provider.
    """

    default_code = "identity_taken"
    default_detail = gettext_lazy("This provider, or your account there, is linked already.")


class LastWayIn(Conflict):
    """409 `last_way_in`: the account has no password, and no other provider to log in with."""

    default_code = "last_way_in"
    default_detail = gettext_lazy(
        "Your account has no password and no other provider. Please request a password reset first."
    )


class Identity(models.Model):
    """An account of a provider that logs in to an account here.

    Its key is what OpenID Connect calls unique, the issuer with the subject. So another issuer
    under the same name in the settings opens no account. The address is only shown.
    """

    user = user_key("identities")
    issuer = models.CharField(gettext_lazy("issuer"), max_length=MAX_ISSUER_CHARS)
    subject = models.CharField(gettext_lazy("subject"), max_length=MAX_SUBJECT_CHARS)
    #: Empty if the provider had not verified it.
    email = models.CharField(gettext_lazy("email"), max_length=MAX_EMAIL_CHARS, blank=True)
    created_at = models.DateTimeField(gettext_lazy("created at"), default=timezone.now)
    used_at = models.DateTimeField(gettext_lazy("last used at"), null=True)

    class Meta:
        verbose_name = gettext_lazy("identity")
        verbose_name_plural = gettext_lazy("identities")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="identity_unique")
        ]

    def __str__(self) -> str:
        return f"#{self.pk}"

    @property
    def provider(self) -> str | None:
        """The key of its provider; None if no provider of the settings has the issuer."""
        return {each.issuer: each.provider for each in settings.OIDC_PROVIDERS}.get(self.issuer)

    @classmethod
    def of(cls, token: IdToken) -> Self | None:
        """The identity that a token is of, with its user."""
        rows = cls.objects.filter(issuer=token.provider.issuer, subject=token.subject)
        return rows.select_related("user").first()

    @classmethod
    def log_in(cls, token: IdToken) -> tuple[User, bool]:
        """The account of a token, which is used up, and whether this made the account.

        An address alone leads into no account: whoever made it may not own the address. Raises
        `LinkFirst`, and `TokenRefused`, also for an account that was deactivated.
        """
        with transaction.atomic():
            _use(token.nonce)
            identity, is_new = cls.of(token), False
            if identity is None:
                identity, is_new = cls._register(token)
            if not identity.user.is_active:
                raise TokenRefused("account")
            cls.objects.filter(pk=identity.pk).update(used_at=timezone.now())
        return identity.user, is_new

    @classmethod
    def _register(cls, token: IdToken) -> tuple[Self, bool]:
        """The identity of a new account, without a password; or that of a simultaneous log-in."""
        if not token.email:
            raise LinkFirst
        unusable = HashedPassword("", "", make_password(None))
        try:
            user = User.register(token.email, unusable, token.name)
        except EmailTaken as error:
            if identity := cls.of(token):
                return identity, False
            raise LinkFirst from error
        with user.just_created():
            # The provider has verified the address, so no mail has to.
            user.verify_email()
            user.mails.all().delete()
        return cls._add(user, token), True

    @classmethod
    def _add(cls, user: User, token: IdToken) -> Self:
        return cls.objects.create(
            user=user, issuer=token.provider.issuer, subject=token.subject, email=token.email
        )

    @classmethod
    def link(cls, user: User, token: IdToken) -> Self:
        """Let a token, which is used up, log in to the account of `user` from now on.

        Raises `IdentityTaken` and `TokenRefused`.
        """
        with user.locked(by=user) as account:
            _use(token.nonce)
            rows = cls.objects.filter(issuer=token.provider.issuer)
            if rows.filter(Q(user=account) | Q(subject=token.subject)).exists():
                raise IdentityTaken
            if account.email:
                account.mails.tell(account, LOG_IN_LINKED, account.email)
            return cls._add(account, token)

    @classmethod
    def unlink(cls, user: User, identity_id: int) -> None:
        """Remove an identity of `user`; raises `NotFound` and `LastWayIn`."""
        with user.locked(by=user) as account:
            own = cls.objects.filter(user=account)
            if not own.filter(pk=identity_id).exists():
                raise NotFound
            others = [row for row in own.exclude(pk=identity_id) if row.provider]
            if not others and not account.has_usable_password():
                raise LastWayIn
            own.filter(pk=identity_id).delete()


def _use(nonce: str) -> None:
    """Use a nonce up, in the transaction of its effect; raises `TokenRefused` if it was used."""
    ends_at = timezone.now() + timedelta(seconds=NONCE_SECONDS)
    if ThrottleCounter.add(f"nonce:{digest_of(nonce)}", ends_at.timestamp()) > 1:
        raise TokenRefused("nonce")


@receiver(sessions_ended)
def forget_reclaimed(account: User, *, is_reclaimed: bool, **_about: Any) -> None:
    """Remove what somebody may have linked who did not own the address of the account."""
    if is_reclaimed:
        Identity.objects.filter(user=account).delete()
