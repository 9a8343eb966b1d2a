"""Accounts that want notices, and the notices that wait for them."""

from django.utils import timezone

from tests.factories import overwrite
from users.models import Mail, User

ALL = ["member.added", "split.paid", "expense.created", "expense.changed"]


def wanting(user: User, mode: str = "each", events: str = " ".join(ALL)) -> User:
    """`user` with a confirmed address, and notices on."""
    overwrite(user, email_verified_at=timezone.now(), notice_mode=mode, notice_events=events)
    return user


def waiting(user: User) -> list[str]:
    return list(Mail.objects.filter(user=user).order_by("id").values_list("letter", flat=True))
