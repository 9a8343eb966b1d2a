"""The lock of an account: every change locks its row and reads it again under the lock.

What was read before the lock may be out of date once it is held: the account may have been
deleted, and the caller deactivated, demoted or logged out. So a command on an account opens
`LockedAccount.locked`, which checks this again, and changes the instance that it yields. `save`
refuses any other instance.
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

from users.models.position import store_position_after_commit
from users.models.via import Via

if TYPE_CHECKING:
    from users.models.token import ScopedToken
    from users.models.user import User


def lock_rows(
    users: models.QuerySet[Any], ids: Iterable[int], *, lock_admins: bool = False
) -> dict[int, "User"]:
    """Lock the accounts with these ids until the transaction ends, and return them by id.

    With `lock_admins` the active administrators are locked too. One statement locks all rows in
    the order of their ids, so two transactions that need the same rows cannot deadlock.
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
    """Lock the account until the transaction ends, and return it, for a command of `by`.

    `by` is the caller as the request authenticated them; None is the service itself. They must be
    an ADMIN if the account is not their own or if `as_admin` is set. Raises `NotAuthenticated` if
    the caller's session has ended since, `PermissionDenied` if they are not an ADMIN, and
    `NotFound` if the account is deleted or is none: guests have none.
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
    if account.is_guest:
        raise NotFound
    return account


def _is_still_logged_in(caller: "User", by: "User") -> bool:
    """Whether the session of `by` is still valid; `caller` is the same account under the lock.

    Whatever ends all sessions of an account changes its hash. A password change can keep one
    session, which gets the new hash, so the session's row is checked too.
    """
    if not caller.is_active:
        return False
    auth_hash = caller.get_session_auth_hash()
    if auth_hash == by.get_session_auth_hash():
        return True
    if by.by_session is None:
        return False
    return caller.sessions.active().filter(pk=by.by_session, auth_hash=auth_hash).exists()


class LockedAccount(AbstractBaseUser):
    """Base of `User`: an account that can be changed under its lock only."""

    #: The scoped token that authenticated the request, if any; set by the authentication.
    by_token: "ScopedToken | None" = None
    #: The session that authenticated the request, if any; set by the authentication.
    by_session: UUID | None = None
    #: How the request was authenticated; set by the authentication and by the admin site.
    via = Via.SERVICE
    #: Whether this instance was yielded by `locked`, whose transaction is still open.
    _is_locked = False

    class Meta:
        abstract = True

    @contextmanager
    def locked(
        self, *, by: "User | None", as_admin: bool = False, lock_admins: bool = False
    ) -> Iterator[Self]:
        """Open a transaction, lock this account, and yield a fresh instance of it.

        Every command on an account runs inside this block and changes the yielded instance, since
        this one may be out of date. At the end this instance gets the stored values. For `by` and
        what is raised, see `read_under_lock`. `lock_admins` is for `require_other_admin`.
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
            store_position_after_commit([account.pk])
            try:
                yield account
            finally:
                account._is_locked = False
        for field in self._meta.concrete_fields:
            setattr(self, field.attname, getattr(account, field.attname))

    @contextmanager
    def just_created(self) -> Iterator[None]:
        """Until the end of the block, `locked` takes no lock of this account.

        For the transaction that has created it: nobody else sees it yet. Citus locks all users
        when it locks one, so two that lock what they have created would wait for each other.
        """
        self._is_locked = True
        store_position_after_commit([self.pk])
        try:
            yield
        finally:
            self._is_locked = False

    def save(self, **options: Any) -> None:
        """Store a new account, or an instance that `locked` has yielded; refuse any other."""
        if not self._state.adding and not self._is_locked:
            raise transaction.TransactionManagementError("Change an account inside `locked`.")
        super().save(**options)

    def check_password(self, raw_password: str | None) -> bool:
        """Whether this is the password. A hash with outdated parameters is replaced."""

        def upgrade(raw_password: str) -> None:
            # Replace only the hash that was verified: the password may have changed meanwhile.
            encoded = make_password(raw_password)
            verified = type(self)._default_manager.filter(pk=self.pk, password=self.password)
            if verified.update(password=encoded):
                self.password = encoded

        return check_password(raw_password, self.password, upgrade)
