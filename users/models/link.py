"""Links that were sent by mail: who opens one has read the mail."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256

from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound

from users.letters import Letter
from users.models.user import User

LIFETIMES = {Letter.RESET: timedelta(hours=1), Letter.VERIFY: timedelta(days=7)}


class LinkInvalid(APIException):
    """400 `link_invalid`: the token was never sent, is used, too old, or overtaken by a change."""

    status_code = 400
    default_code = "link_invalid"
    default_detail = gettext_lazy("This link is not valid any more. Please ask for a new one.")

    def __init__(self) -> None:
        super().__init__()
        self.errors = {"token": [str(self.detail)]}


class LinkQuerySet(models.QuerySet["Link"]):
    def expired(self) -> "LinkQuerySet":
        """Links that open nothing any more."""
        return self.filter(expires_at__lte=timezone.now())

    def sent_since(self, letter: Letter, age: timedelta) -> "LinkQuerySet":
        """Links of one kind that were made within `age`."""
        return self.filter(letter=letter, created_at__gt=timezone.now() - age)


class Link(models.Model):
    """A token that went out by mail, good once. Only its SHA-256 is kept: it is 256 random bits.

    Several of an account may be good at once, so that asking in somebody's name does not kill the
    mail that they are waiting for. Each dies with what it is bound to.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="links")
    letter = models.CharField(max_length=16, choices=Letter)
    digest = models.CharField(max_length=64, unique=True)
    #: A hash of the state that the account was in; a link into another state is dead.
    bound_to = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    objects = LinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.letter} of {self.user_id}"

    @classmethod
    def make(cls, user: User, letter: Letter) -> str:
        """The token of a new link; it is nowhere else. Call inside `user.locked`."""
        token = secrets.token_urlsafe(32)
        cls.objects.create(
            user=user,
            letter=letter,
            digest=_digest(token),
            bound_to=_state(user, letter),
            expires_at=timezone.now() + LIFETIMES[letter],
        )
        return token

    @classmethod
    def reset_password(cls, token: str, password: str) -> None:
        """Set a new password and end every log-in. Raises `LinkInvalid`."""
        link = cls._find(token, Letter.RESET)
        hashed = link.user.hashed(password)
        with link._spent() as user:
            user.verify_email()
            user.reset_password(hashed)

    @classmethod
    def verify_email(cls, token: str) -> None:
        """Note that the account's address is its owner's. Raises `LinkInvalid`."""
        with cls._find(token, Letter.VERIFY)._spent() as user:
            user.verify_email()

    @classmethod
    def _find(cls, token: str, letter: Letter) -> "Link":
        """The link with this token, and its account, as far as it is good without the lock."""
        links = cls.objects.filter(digest=_digest(token), letter=letter)
        link = links.filter(expires_at__gt=timezone.now()).select_related("user").first()
        if link is None:
            raise LinkInvalid
        return link

    @contextmanager
    def _spent(self) -> Iterator[User]:
        """Spend the link, and yield its account under its lock.

        Of any number of simultaneous uses the DELETE finds the row for exactly one.
        """
        try:
            with self.user.locked(by=None) as user:
                self._delete_if_good(user)
                yield user
        except NotFound as error:
            raise LinkInvalid from error

    def _delete_if_good(self, user: User) -> None:
        is_good = user.is_active and constant_time_compare(
            self.bound_to, _state(user, Letter(self.letter))
        )
        if not is_good or not Link.objects.filter(pk=self.pk).delete()[0]:
            raise LinkInvalid


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _state(user: User, letter: Letter) -> str:
    """What a link is bound to: the address that it went to and, for a reset, the password."""
    state = f"{letter}:{user.pk}:{user.email_key}"
    if letter == Letter.RESET:
        state += f":{user.get_session_auth_hash()}"
    return salted_hmac("users.Link", state, algorithm="sha256").hexdigest()
