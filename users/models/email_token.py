"""Tokens in mailed links; presenting one proves control of the address."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound

from users.mail_templates import MailTemplate
from users.models.user import User
from users.random_tokens import digest_of, new_token

LIFETIMES = {MailTemplate.RESET: timedelta(hours=1), MailTemplate.VERIFY: timedelta(days=7)}


class EmailTokenInvalid(APIException):
    """400 `link_invalid`: the token is unknown, used or expired, or the account has changed."""

    status_code = 400
    default_code = "link_invalid"
    default_detail = gettext_lazy("This link is no longer valid. Please request a new one.")

    def __init__(self) -> None:
        super().__init__()
        self.errors = {"token": [str(self.detail)]}


class EmailToken(models.Model):
    """A single-use token sent by mail. It is 256 random bits, so storing its SHA-256 is safe.

    An account may have several valid tokens, so that a request by somebody else does not
    invalidate the mail that the owner is waiting for. A token is invalid once the account is no
    longer in the state that the token is bound to.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="links")
    letter = models.CharField(max_length=16, choices=MailTemplate)
    digest = models.CharField(max_length=64, unique=True)
    #: A hash of the account's state at creation; the token is valid in that state only.
    bound_to = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.letter} of {self.user_id}"

    @classmethod
    def make(cls, user: User, letter: MailTemplate) -> str:
        """Create a row and return its token, which is not stored. Call inside `user.locked`."""
        token = new_token()
        cls.objects.create(
            user=user,
            letter=letter,
            digest=digest_of(token),
            bound_to=_state(user, letter),
            expires_at=timezone.now() + LIFETIMES[letter],
        )
        return token

    @classmethod
    def reset_password(cls, token: str, password: str) -> None:
        """Set a new password and end all sessions. Raises `EmailTokenInvalid`."""
        link = cls._find(token, MailTemplate.RESET)
        hashed = link.user.hashed(password)
        with link._spent() as user:
            user.reset_password(hashed)

    @classmethod
    def verify_email(cls, token: str) -> None:
        """Mark the account's address as verified. Raises `EmailTokenInvalid`."""
        with cls._find(token, MailTemplate.VERIFY)._spent() as user:
            user.verify_email()

    @classmethod
    def _find(cls, token: str, letter: MailTemplate) -> "EmailToken":
        """The unexpired row of this token, with its account, both read without the lock."""
        links = cls.objects.filter(digest=digest_of(token), letter=letter)
        link = links.filter(expires_at__gt=timezone.now()).select_related("user").first()
        if link is None:
            raise EmailTokenInvalid
        return link

    @contextmanager
    def _spent(self) -> Iterator[User]:
        """Delete the row, and yield the locked account.

        If it is used several times at once, exactly one use deletes the row.
        """
        try:
            with self.user.locked(by=None) as user:
                state = _state(user, MailTemplate(self.letter))
                is_good = user.is_active and constant_time_compare(self.bound_to, state)
                if not is_good or not EmailToken.objects.filter(pk=self.pk).delete()[0]:
                    raise EmailTokenInvalid
                yield user
        except NotFound as error:
            raise EmailTokenInvalid from error


def _state(user: User, letter: MailTemplate) -> str:
    """A hash of what a token is bound to: the address and, for a reset, the password."""
    state = f"{letter}:{user.pk}:{user.email_key}"
    if letter == MailTemplate.RESET:
        state += f":{user.get_session_auth_hash()}"
    return salted_hmac("users.EmailToken", state, algorithm="sha256").hexdigest()
