"""The lock of accounts: their rows; see `User.locked`."""

from collections.abc import Iterable
from typing import TypeVar

from django.db import models
from django.db.models import Q

Row = TypeVar("Row", bound=models.Model)


def lock_rows(
    users: models.QuerySet[Row], ids: Iterable[int], *, lock_admins: bool = False
) -> dict[int, Row]:
    """Lock the accounts with these ids until the transaction ends, and return them by id.

    With `lock_admins` the active administrators are locked too. One statement locks all rows in
    the order of their ids, so two transactions that need the same rows cannot deadlock. Guests are
    left out: the lock of their trip, which is taken later, is theirs.
    """
    wanted = Q(pk__in=list(ids))
    if lock_admins:
        wanted |= Q(role="ADMIN", is_active=True)
    rows = users.filter(wanted, is_guest=False).order_by("pk").select_for_update(no_key=True)
    return {row.pk: row for row in rows}
