"""Accounts that another process changes while requests wait for their rows."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from django.contrib.auth.hashers import make_password

from tests.locks import OtherProcess
from tests.splits.journey import Traveller

#: Long enough for a request to verify a password and come to the lock; the wait ends after 2 s.
HOLD_SECONDS = 0.7
NEW = "five-yellow-umbrellas"
#: All that belongs to an account.
TABLES = (
    "users_session",
    "users_scopedtoken",
    "users_emailtoken",
    "users_mail",
    "kit_idempotencyrecord",
)


@dataclass(frozen=True, eq=False)
class Account:
    """Somebody with a log-in, a scoped token and an address to be confirmed."""

    traveller: Traveller
    email: str
    token_id: int

    @property
    def id(self) -> int:
        return self.traveller.id

    def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self.traveller.call(method, path, body)


class Past:
    """What another process does to accounts, and what is stored of them."""

    def __init__(self, other: OtherProcess) -> None:
        self._other = other

    def deleted(self, account: Account) -> None:
        for table in ("users_session", "users_scopedtoken", "users_emailtoken", "users_mail"):
            self._other.run(f"DELETE FROM {table} WHERE user_id = %s", account.id)  # noqa: S608 -- names only
        self._other.run(
            "UPDATE users_user SET name = 'Deleted user', email = NULL, email_key = NULL,"
            " is_active = false, password = '!', deleted_at = created_at WHERE id = %s",
            account.id,
        )

    def deactivated(self, account: Account) -> None:
        self._set(account, "is_active = false")

    def password_changed(self, account: Account) -> None:
        self._set(account, "password = %s", make_password(NEW))

    def demoted(self, account: Account) -> None:
        self._other.run("UPDATE users_user SET role = 'USER' WHERE id = %s", account.id)

    def _set(self, account: Account, change: str, *values: Any) -> None:
        statement = f"UPDATE users_user SET {change} WHERE id = %s"  # noqa: S608 -- names only
        self._other.run(statement, *values, account.id)
        for end in (
            "UPDATE users_session SET ended_at = created_at WHERE user_id = %s",
            "DELETE FROM users_scopedtoken WHERE user_id = %s",
        ):
            self._other.run(end, account.id)

    def met_by(self, calls: list[Callable[[], Any]], *changes: "Change") -> list[Any]:
        """What the calls answer, which meet the changes and store nothing of these accounts."""
        accounts, written = [account for _change, account in changes], list[Any]()
        changing = [partial(change, account) for change, account in changes]
        changing.append(lambda: written.extend(map(self.stored, accounts)))
        answers = while_changing(self._other, changing, calls)
        assert [*map(self.stored, accounts)] == written
        return answers

    def stored(self, account: Account) -> list[Any]:
        """The account's row, and how much there is of all that belongs to it."""
        counts = [
            self._other.run(f"SELECT count(*) FROM {table} WHERE user_id = %s", account.id)  # noqa: S608 -- names only
            for table in TABLES
        ]
        return [self._other.run("SELECT * FROM users_user WHERE id = %s", account.id), counts]


Change = tuple[Callable[[Account], None], Account]


def while_changing(
    other: OtherProcess, changes: list[Callable[[], None]], calls: list[Callable[[], Any]]
) -> list[Any]:
    """What the calls answer, which meet the changes before these are committed."""
    with ThreadPoolExecutor(len(calls)) as pool:
        with other.transaction():
            for change in changes:
                change()
            answers = [pool.submit(call) for call in calls]
            time.sleep(HOLD_SECONDS)
            assert not [answer for answer in answers if answer.done()]
        return [answer.result() for answer in answers]
