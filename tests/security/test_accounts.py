"""Rows T136 and T137: a command on an account is decided by what holds when it is carried out.

While a request waits for the account's row, another process deletes or bars the account, changes
its password, or takes the caller's role away. Then it commits, and the request goes on.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from tests.factories import PASSWORD
from tests.security.accounts import NEW, Account, while_changing
from tests.splits.journey import codes, fresh_email
from users.mail_templates import MailTemplate

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


@pytest.mark.slow
@pytest.mark.parametrize("command", OWN.values(), ids=OWN)
def test_t136_an_account_that_ended_meanwhile_stays_as_it_is(past, account, command):
    """T136: A deleted account stays empty, whatever changes it concurrently."""
    ends = (past.deleted, past.deactivated, past.password_changed)
    changes = [(end, account()) for end in ends]
    answers = past.met_by([partial(command, of) for _end, of in changes], *changes)
    refused = "bad_credentials" if command is OWN["a log-in"] else "not_authenticated"
    assert codes(answers) == [(401, refused)] * 3


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
    other, past, account, admin, command
):
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
    other, past, account, admin, command
):
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
    assert not other.run("SELECT is_active FROM users_user WHERE id = %s", deactivated.id)[0][0]


def test_t136_an_administrator_who_was_demoted_cannot_delete_oneself_without_a_password(
    other, past, admin
):
    by = admin()
    admin()
    calls = [lambda: by.call("DELETE", f"/users/{by.id}")]
    answers = while_changing(other, [lambda: past.demoted(by)], calls)
    assert codes(answers) == [(403, "forbidden")]


def links_to(server, letter, accounts):
    """The tokens of new links, good for these accounts as they are."""
    script = (
        "from users.models import EmailToken, User\n"
        f"for pk in {[account.id for account in accounts]}:\n"
        f"    print(EmailToken.make(User.objects.get(pk=pk), {letter!r}))"
    )
    return server.manage("shell", "--no-imports", "-c", script).stdout.split()


@pytest.mark.parametrize("letter", ["RESET", "VERIFY"])
def test_t136_a_link_opens_no_account_that_ended_meanwhile(server, past, account, letter):
    path, body = {
        "RESET": ("/users/password-reset/confirm", {"newPassword": NEW + "!"}),
        "VERIFY": ("/users/verify-email", {}),
    }[letter]
    accounts = [account(), account()]
    links = links_to(server, letter, accounts)
    calls = [
        partial(of.call, "POST", path, {"token": link, **body})
        for of, link in zip(accounts, links, strict=True)
    ]
    changes = zip((past.deleted, past.deactivated), accounts, strict=True)
    assert codes(past.met_by(calls, *changes)) == [(400, "link_invalid")] * 2


def test_of_two_who_verified_the_same_password_at_once_one_changes_it(other, account):
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


def test_a_log_in_that_a_new_password_has_kept_may_go_on(other, account):
    of = account()
    path = f"/users/{of.id}/profile"
    password = {"currentPassword": PASSWORD, "newPassword": NEW}
    hold = [lambda: other.run("UPDATE users_user SET name = name WHERE id = %s", of.id)]
    calls = [lambda b=body: of.call("PUT", path, b) for body in (password, {"name": "Olga Other"})]
    assert codes(while_changing(other, hold, calls)) == [(200, "")] * 2
    assert of.call("GET", "/users/me").json()["name"] == "Olga Other"


# -- Notices --------------------------------------------------------------------------------------


def test_t137_what_an_administrator_changed_is_told_at_the_old_address(environment):
    """T137: A change of an address is reported to the old address, whoever makes it."""
    ed, body = environment.ed, {"email": "e@x.eu", "newPassword": NEW}
    environment.ask(environment.ada, "PUT", f"/api/users/{ed.pk}/profile", body)
    assert set(ed.mails.values_list("letter", "address")) == {
        (MailTemplate.PASSWORD_CHANGED, "ed@example.com"),
        (MailTemplate.EMAIL_CHANGED, "ed@example.com"),
        (MailTemplate.VERIFY, "e@x.eu"),
    }
