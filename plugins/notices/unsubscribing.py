"""What turns the notices of an account off without a log-in: a signed token in each mail."""

from django.conf import settings
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac
from rest_framework.exceptions import NotFound

from plugins.notices.kinds import LETTERS
from users.models import NoticeMode, User

_SALT = "users.notices"


def unsubscribe_url(account: User) -> str:
    """The page that turns the notices of this account off, without a log-in."""
    token = signing.dumps([account.pk, _fingerprint(account)], salt=_SALT)
    return f"{settings.PUBLIC_URL}/unsubscribe?token={token}"


def account_of(token: str) -> User:
    """The account of a token in a mail; raises `NotFound`.

    A token works until the address of the account changes, however often it is used.
    """
    try:
        pk, fingerprint = signing.loads(token, salt=_SALT)
    except signing.BadSignature as error:
        raise NotFound from error
    account = User.objects.active().filter(pk=pk).first()
    if account is None or not constant_time_compare(fingerprint, _fingerprint(account)):
        raise NotFound
    return account


def turn_off_notices(user: User) -> None:
    """Send no more notices; waiting ones are deleted. Repeating it changes nothing."""
    with user.locked(by=None) as account:
        account.notice_mode = NoticeMode.OFF
        account.save(update_fields=["notice_mode"])
        account.mails.filter(letter__in=LETTERS).delete()


def _fingerprint(account: User) -> str:
    return salted_hmac(_SALT, account.email_key or "", algorithm="sha256").hexdigest()[:32]
