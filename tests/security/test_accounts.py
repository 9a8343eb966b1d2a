"""Rows T136 and T137: a command on an account is decided by what holds when it is carried out.

While a request waits for the account's row, another process deletes or bars the account, changes
its password, or takes the caller's role away. Then it commits, and the request goes on.
"""

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.contrib.auth.hashers import make_password

from tests.admin_client import AdminClient
from tests.factories import PASSWORD
from tests.locks import OtherProcess
from tests.security.environment import Environment
from tests.server import Server
from tests.splits.journey import Traveller, fresh_email, register
from users.mail_templates import Letter

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


Command = Callable[[Account], httpx.Response]
OWN: dict[str, Command] = {
    "a new name": lambda a: a.call("PUT", f"/users/{a.id}/profile", {"name": "Olga Other"}),
    "a new address": lambda a: a.call("PUT", f"/users/{a.id}/profile", {"email": fresh_email()}),
    "a new password": lambda a: a.call(
        "PUT", f"/users/{a.id}/profile", {"currentPassword": PASSWORD, "newPassword": NEW + "!"}
    ),
    "a whole new account": lambda a: a.call(
        "PUT",
        f"/users/{a.id}",
        {"name": "Olga Other", "email": fresh_email(), "password": NEW + "!"},
    ),
    "its deletion": lambda a: a.call("DELETE", "/users/me", {"password": PASSWORD}),
    "the end of all log-ins": lambda a: a.call("POST", "/users/me/logout-everywhere"),
    "another mail": lambda a: a.call("POST", "/users/me/verify-email"),
    "a scoped token": lambda a: a.call(
        "POST", "/users/me/tokens", {"name": "Import", "scopes": ["trips:read"]}
    ),
    "the end of a scoped token": lambda a: a.call("DELETE", f"/users/me/tokens/{a.token_id}"),
    "a log-in": lambda a: a.traveller.http.post(
        "/api/users/login", json={"email": a.email, "password": PASSWORD}
    ),
}


@pytest.fixture(scope="module")
def other(server: Server) -> Iterator[OtherProcess]:
    process = OtherProcess(server)
    yield process
    process.close()


@pytest.fixture
def account(http: httpx.Client, other: OtherProcess) -> Callable[[], Account]:
    def make() -> Account:
        email = fresh_email()
        login = register(http, email).json()
        headers = {"Authorization": f"Bearer {login['token']}"}
        traveller = Traveller(http, login["user"]["id"], headers)
        body = {"name": "Import", "scopes": ["trips:read"]}
        token_id = traveller.done("POST", "/users/me/tokens", body)["id"]
        other.run("DELETE FROM users_mail WHERE user_id = %s", traveller.id)
        return Account(traveller, email, token_id)

    return make


@pytest.fixture
def admin(account: Callable[[], Account], other: OtherProcess) -> Callable[[], Account]:
    def make() -> Account:
        made = account()
        other.run("UPDATE users_user SET role = 'ADMIN' WHERE id = %s", made.id)
        return made

    return make


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

    def stored(self, account: Account) -> list[Any]:
        """The account's row, and how much there is of all that belongs to it."""
        counts = [
            self._other.run(f"SELECT count(*) FROM {table} WHERE user_id = %s", account.id)  # noqa: S608 -- names only
            for table in TABLES
        ]
        return [self._other.run("SELECT * FROM users_user WHERE id = %s", account.id), counts]


@pytest.fixture
def past(other: OtherProcess) -> Past:
    return Past(other)


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


def codes(answers: list[httpx.Response]) -> list[tuple[int, str]]:
    return [(a.status_code, "" if a.is_success else a.json()["code"]) for a in answers]


@pytest.mark.parametrize("command", OWN.values(), ids=OWN)
def test_t136_an_account_that_ended_meanwhile_stays_as_it_is(
    other: OtherProcess, past: Past, account: Callable[[], Account], command: Command
) -> None:
    changes = (past.deleted, past.deactivated, past.password_changed)
    accounts = [account() for _change in changes]
    for_each = list(zip(changes, accounts, strict=True))
    written: list[Any] = []
    changing = [lambda c=change, a=of: c(a) for change, of in for_each]
    changing.append(lambda: written.extend(past.stored(of) for of in accounts))
    calls = [lambda a=of: command(a) for of in accounts]
    answers = while_changing(other, changing, calls)
    refused = "bad_credentials" if command is OWN["a log-in"] else "not_authenticated"
    assert codes(answers) == [(401, refused)] * 3
    assert [past.stored(of) for of in accounts] == written


ON_OTHERS: dict[str, Callable[[Account, Account], httpx.Response]] = {
    "a new name": lambda by, a: by.call("PUT", f"/users/{a.id}/profile", {"name": "Olga Other"}),
    "a whole new account": lambda by, a: by.call(
        "PUT",
        f"/users/{a.id}",
        {"name": "Olga Other", "email": fresh_email(), "password": NEW + "!"},
    ),
    "its deletion": lambda by, a: by.call("DELETE", f"/users/{a.id}"),
}


@pytest.mark.parametrize("command", ON_OTHERS.values(), ids=ON_OTHERS)
def test_t136_who_is_no_administrator_any_more_does_nothing_to_others(
    other: OtherProcess,
    past: Past,
    account: Callable[[], Account],
    admin: Callable[[], Account],
    command: Callable[[Account, Account], httpx.Response],
) -> None:
    changes = (past.demoted, past.deleted, past.deactivated, past.password_changed)
    accounts = [account() for _change in changes]
    admins = [admin() for _change in changes]
    before = [past.stored(of) for of in accounts]
    changing = [lambda c=change, a=by: c(a) for change, by in zip(changes, admins, strict=True)]
    calls = [lambda b=by, a=of: command(b, a) for by, of in zip(admins, accounts, strict=True)]
    answers = while_changing(other, changing, calls)
    assert codes(answers) == [(403, "forbidden"), *[(401, "not_authenticated")] * 3]
    assert [past.stored(of) for of in accounts] == before


@pytest.mark.parametrize("command", ON_OTHERS.values(), ids=ON_OTHERS)
def test_t136_an_administrator_changes_no_account_that_was_deleted_meanwhile(
    other: OtherProcess,
    past: Past,
    account: Callable[[], Account],
    admin: Callable[[], Account],
    command: Callable[[Account, Account], httpx.Response],
) -> None:
    by, gone, deactivated = admin(), account(), account()
    written: list[Any] = []
    changing = [
        lambda: past.deleted(gone),
        lambda: past.deactivated(deactivated),
        lambda: written.extend(past.stored(gone)),
    ]
    calls = [lambda: command(by, gone), lambda: command(by, deactivated)]
    answers = while_changing(other, changing, calls)
    assert codes(answers[:1]) == [(404, "not_found")]
    assert past.stored(gone) == written
    assert answers[1].is_success
    # Changed, and deactivated all the same: only what was asked for is stored.
    is_active = other.run("SELECT is_active FROM users_user WHERE id = %s", deactivated.id)
    assert not is_active[0][0]


def test_t136_an_administrator_who_was_demoted_cannot_delete_oneself_without_a_password(
    other: OtherProcess, past: Past, admin: Callable[[], Account]
) -> None:
    by = admin()
    admin()
    calls = [lambda: by.call("DELETE", f"/users/{by.id}")]
    answers = while_changing(other, [lambda: past.demoted(by)], calls)
    assert codes(answers) == [(403, "forbidden")]


def links_to(server: Server, letter: str, accounts: list[Account]) -> list[str]:
    """The tokens of new links, good for these accounts as they are."""
    script = (
        "from users.models import EmailToken, User\n"
        f"for pk in {[account.id for account in accounts]}:\n"
        f"    print(EmailToken.make(User.objects.get(pk=pk), {letter!r}))"
    )
    return server.manage("shell", "--no-imports", "-c", script).stdout.split()


@pytest.mark.parametrize("letter", ["RESET", "VERIFY"])
def test_t136_a_link_opens_no_account_that_ended_meanwhile(
    server: Server, other: OtherProcess, past: Past, account: Callable[[], Account], letter: str
) -> None:
    path, body = {
        "RESET": ("/users/password-reset/confirm", {"newPassword": NEW + "!"}),
        "VERIFY": ("/users/verify-email", {}),
    }[letter]
    changes = (past.deleted, past.deactivated)
    accounts = [account() for _change in changes]
    links = dict(zip(accounts, links_to(server, letter, accounts), strict=True))
    written: list[Any] = []
    for_each = zip(changes, accounts, strict=True)
    changing = [lambda c=change, a=of: c(a) for change, of in for_each]
    changing.append(lambda: written.extend(past.stored(of) for of in accounts))
    calls = [lambda a=of: a.call("POST", path, {"token": links[a], **body}) for of in accounts]
    answers = while_changing(other, changing, calls)
    assert codes(answers) == [(400, "link_invalid")] * 2
    assert [past.stored(of) for of in accounts] == written


def test_of_two_who_verified_the_same_password_at_once_one_changes_it(
    other: OtherProcess, account: Callable[[], Account]
) -> None:
    """Both with the same log-in, which the first keeps: the second typed an outdated password."""
    of = account()
    hold = [lambda: other.run("UPDATE users_user SET name = name WHERE id = %s", of.id)]
    path = f"/users/{of.id}/profile"
    calls = [
        lambda n=new: of.call("PUT", path, {"currentPassword": PASSWORD, "newPassword": n})
        for new in (NEW, NEW + "!")
    ]
    answers = while_changing(other, hold, calls)
    assert sorted(codes(answers)) == [(200, ""), (400, "invalid")]
    [refused] = [answer for answer in answers if answer.status_code == 400]
    assert refused.json()["errors"] == {"currentPassword": ["This is not the current password."]}
    assert of.call("GET", "/users/me").status_code == 200


def test_a_log_in_that_a_new_password_has_kept_may_go_on(
    other: OtherProcess, account: Callable[[], Account]
) -> None:
    of = account()
    path = f"/users/{of.id}/profile"
    password = {"currentPassword": PASSWORD, "newPassword": NEW}
    hold = [lambda: other.run("UPDATE users_user SET name = name WHERE id = %s", of.id)]
    calls = [lambda b=body: of.call("PUT", path, b) for body in (password, {"name": "Olga Other"})]
    assert codes(while_changing(other, hold, calls)) == [(200, "")] * 2
    me = of.call("GET", "/users/me").json()
    assert me["name"] == "Olga Other"


# -- The admin site -------------------------------------------------------------------------------


class Browser:
    """A browser without a log-in."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def opens(self, path: str) -> bool:
        return self._http.get(path).status_code == 200

    def fill_in(self, path: str, fields: dict[str, Any]) -> Callable[[], httpx.Response]:
        """Read the form at `path` now; it is sent when the answer is called."""
        page = self._http.get(path).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
        return lambda: self._http.post(path, data={"csrfmiddlewaretoken": token, **fields})

    def enter(self, admin: Account) -> "Browser":
        """Log in to the admin site."""
        self.fill_in("/admin/login/", {"username": admin.email, "password": PASSWORD})()
        assert self.opens("/admin/")
        return self


@pytest.fixture
def browser(server: Server) -> Iterator[Browser]:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        yield Browser(http)


def form_of(account: Account, **fields: str) -> dict[str, str]:
    typed = {"email": account.email, "role": "USER", "is_active": "on", "currency": "EUR"}
    return {**typed, "name": "Tess Traveller", "password1": "", "password2": "", **fields}


Page = tuple[str, dict[str, Any]]
PAGES: dict[str, Callable[[Account], Page]] = {
    "form": lambda a: (f"/admin/users/user/{a.id}/change/", form_of(a, name="Olga Other")),
    "new administrator": lambda a: (f"/admin/users/user/{a.id}/change/", form_of(a, role="ADMIN")),
    "bar": lambda a: (
        "/admin/users/user/",
        {"action": "deactivate", "_selected_action": a.id},
    ),
    "deletion": lambda a: (f"/admin/users/user/{a.id}/delete/", {"post": "yes"}),
    "end of tokens": lambda a: (
        "/admin/users/scopedtoken/",
        {"action": "end", "_selected_action": a.token_id},
    ),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_t136_the_admin_site_obeys_nobody_who_was_demoted_meanwhile(
    browser: Browser,
    other: OtherProcess,
    past: Past,
    account: Callable[[], Account],
    admin: Callable[[], Account],
    page: Callable[[Account], Page],
) -> None:
    by, of = admin(), account()
    sending = browser.enter(by).fill_in(*page(of))
    before = past.stored(of)
    [answer] = while_changing(other, [lambda: past.demoted(by)], [sending])
    assert answer.status_code == 302
    assert past.stored(of) == before


@pytest.mark.parametrize("page", ["form", "new administrator", "bar", "deletion"])
def test_t136_the_admin_site_leaves_an_account_empty_that_was_deleted_meanwhile(
    browser: Browser,
    other: OtherProcess,
    past: Past,
    account: Callable[[], Account],
    admin: Callable[[], Account],
    page: str,
) -> None:
    by, of = admin(), account()
    written: list[Any] = []
    changing = [lambda: past.deleted(of), lambda: written.extend(past.stored(of))]
    sending = browser.enter(by).fill_in(*PAGES[page](of))
    [answer] = while_changing(other, changing, [sending])
    assert answer.status_code in {302, 403}
    assert past.stored(of) == written


def test_t136_ones_own_password_in_the_admin_site_is_not_set_on_an_emptied_account(
    browser: Browser, other: OtherProcess, past: Past, admin: Callable[[], Account]
) -> None:
    by = admin()
    written: list[Any] = []
    fields = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    sending = browser.enter(by).fill_in("/admin/password_change/", fields)
    changing = [lambda: past.deleted(by), lambda: written.extend(past.stored(by))]
    [answer] = while_changing(other, changing, [sending])
    assert answer.status_code == 302
    assert past.stored(by) == written


def test_t136_a_browser_log_in_leaves_no_trace_on_an_emptied_account(
    browser: Browser, other: OtherProcess, past: Past, admin: Callable[[], Account]
) -> None:
    by = admin()
    written: list[Any] = []
    fields = {"username": by.email, "password": PASSWORD}
    sending = browser.fill_in("/api/session/login", fields)
    changing = [lambda: past.deleted(by), lambda: written.extend(past.stored(by))]
    while_changing(other, changing, [sending])
    assert not browser.opens("/api/users/me")
    assert past.stored(by) == written


# -- Notices --------------------------------------------------------------------------------------


def test_t137_what_an_administrator_changed_is_told_at_the_old_address(
    environment: Environment,
) -> None:
    ada, olga = environment.ada, environment.olga
    body = {"email": "olga@new.example.com", "newPassword": NEW}
    for change in (
        lambda: AdminClient(ada).change(olga, email=body["email"], password1=NEW, password2=NEW),
        lambda: environment.ask(
            ada, "PUT", f"/api/users/{environment.ed.pk}/profile", body | {"email": "e@x.eu"}
        ),
    ):
        change()
    for user, old, new in (
        (olga, "olga@example.com", "olga@new.example.com"),
        (environment.ed, "ed@example.com", "e@x.eu"),
    ):
        assert set(user.mails.values_list("letter", "address")) == {
            (Letter.PASSWORD_CHANGED, old),
            (Letter.EMAIL_CHANGED, old),
            (Letter.VERIFY, new),
        }
