"""The only way to change an account: with its row locked, and read anew under the lock.

Whatever was read before the lock may be out of date by the time the lock is there: the account may
be deleted, and the caller barred, demoted or logged out. So a command on an account opens
`LockedAccount.locked`, which asks these questions, and works on the account that it yields. `save`
refuses every other instance.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.db.models import Q
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied

if TYPE_CHECKING:
    from users.models.token import ScopedToken
    from users.models.user import User


def lock_rows(
    users: models.QuerySet[Any], ids: Iterable[int], *, lock_admins: bool = False
) -> dict[int, "User"]:
    """The accounts with these ids as they are now, locked until the transaction ends.

    With `lock_admins` the active administrators are locked too. One statement locks all rows in
    the order of their ids, so that two transactions that need the same rows cannot deadlock.
    """
    wanted = Q(pk__in=list(ids))
    if lock_admins:
        wanted |= Q(role="ADMIN", is_active=True)
    rows = users.filter(wanted).order_by("pk").select_for_update(no_key=True)
    return {row.pk: row for row in rows}


def read_under_lock(
    users: models.QuerySet[Any],
    user_id: int,
    *,
    by: "User | None",
    as_admin: bool = False,
    lock_admins: bool = False,
) -> "User":
    """The account as it is now, locked until the transaction ends, for a command of `by`.

    `by` is the caller as the request authenticated them; None stands for the service itself.
    They must be an ADMIN if the account is not their own, and with `as_admin` in any case.
    Raises `NotAuthenticated` if the caller's log-in has ended since, `PermissionDenied` if they
    are no ADMIN any more, and `NotFound` if the account is deleted.
    """
    ids = {user_id} if by is None else {user_id, by.pk}
    rows = lock_rows(users, ids, lock_admins=lock_admins)
    if by is not None:
        caller = rows.get(by.pk)
        if caller is None or not _is_still_logged_in(caller, by):
            raise NotAuthenticated
        if (as_admin or by.pk != user_id) and not (caller.is_admin and by.by_token is None):
            raise PermissionDenied
    account = rows.get(user_id)
    if account is None or account.deleted_at is not None:
        raise NotFound
    return account


def _is_still_logged_in(caller: "User", by: "User") -> bool:
    """Whether the log-in of `by` is still good, `caller` being the same account under the lock.

    Whatever ends all log-ins of an account changes its hash. A log-in that a change of the
    password has kept has got the new hash, so its row is asked as well.
    """
    if not caller.is_active:
        return False
    auth_hash = caller.get_session_auth_hash()
    if auth_hash == by.get_session_auth_hash():
        return True
    if by.by_session is None:
        return False
    return caller.sessions.live().filter(pk=by.by_session, auth_hash=auth_hash).exists()


class LockedAccount(AbstractBaseUser):
    """What an account needs to be changed under its lock only."""

    #: What a request came with, if that was a scoped token; set by the authentication.
    by_token: "ScopedToken | None" = None
    #: The log-in that a request came with; set by the authentication.
    by_session: UUID | None = None
    #: Whether this instance was read by `locked`, whose transaction is still open.
    _is_locked = False

    class Meta:
        abstract = True

    @contextmanager
    def locked(
        self, *, by: "User | None", as_admin: bool = False, lock_admins: bool = False
    ) -> Iterator[Self]:
        """Open a transaction, lock this account, and yield it as it is now.

        Every command on an account works inside: on what is yielded, since this instance may be
        out of date. In the end this instance takes over what is stored. `by` is who commands it;
        see `read_under_lock`, also for what it raises. `lock_admins` is for `require_other_admin`.
        """
        if self._is_locked:
            yield self
            return
        with transaction.atomic():
            users = type(self)._default_manager.all()
            account: Any = read_under_lock(
                users, self.pk, by=by, as_admin=as_admin, lock_admins=lock_admins
            )
            account._is_locked = True
            try:
                yield account
            finally:
                account._is_locked = False
        for field in self._meta.concrete_fields:
            setattr(self, field.attname, getattr(account, field.attname))

    def save(self, **options: Any) -> None:
        """Store a new account, or one that `locked` has yielded: any other is out of date."""
        if not self._state.adding and not self._is_locked:
            raise transaction.TransactionManagementError("Change an account inside `locked`.")
        super().save(**options)

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the password. A hash at an outdated cost is replaced."""

        def upgrade(raw_password: str) -> None:
            # Only the hash that was verified: the password may have been changed meanwhile.
            encoded = make_password(raw_password)
            verified = type(self)._default_manager.filter(pk=self.pk, password=self.password)
            if verified.update(password=encoded):
                self.password = encoded

        return check_password(raw_password, self.password, upgrade)
