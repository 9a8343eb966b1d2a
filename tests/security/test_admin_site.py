"""Row T136 in the admin site, and when a browser logs in."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.factories import PASSWORD
from tests.security.accounts import NEW, Account, while_changing


class Browser:
    """A browser without a log-in."""

    def __init__(self, http):
        self._http = http

    def opens(self, path):
        return self._http.get(path).status_code == 200

    def fill_in(self, path, fields):
        """Read the form at `path` now; it is sent when the answer is called."""
        page = self._http.get(path).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
        return lambda: self._http.post(path, data={"csrfmiddlewaretoken": token, **fields})

    def enter(self, admin):
        """Log in to the admin site."""
        self.fill_in("/admin/login/", {"username": admin.email, "password": PASSWORD})()
        assert self.opens("/admin/")
        return self


@pytest.fixture
def browser(server):
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        yield Browser(http)


def form_of(account, **fields):
    typed = {"email": account.email, "role": "USER", "is_active": "on", "currency": "EUR"}
    return {**typed, "name": "Tess Traveller", "password1": "", "password2": "", **fields}


Page = tuple[str, dict[str, Any]]
PAGES: dict[str, Callable[[Account], Page]] = {
    "form": lambda a: (f"/admin/users/user/{a.id}/change/", form_of(a, name="Olga Other")),
    "new administrator": lambda a: (f"/admin/users/user/{a.id}/change/", form_of(a, role="ADMIN")),
    "bar": lambda a: ("/admin/users/user/", {"action": "deactivate", "_selected_action": a.id}),
    "deletion": lambda a: (f"/admin/users/user/{a.id}/delete/", {"post": "yes"}),
    "end of tokens": lambda a: (
        "/admin/users/scopedtoken/",
        {"action": "end", "_selected_action": a.token_id},
    ),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_t136_the_admin_site_obeys_nobody_who_was_demoted_meanwhile(
    browser, other, past, account, admin, page
):
    by, of = admin(), account()
    sending = browser.enter(by).fill_in(*page(of))
    before = past.stored(of)
    [answer] = while_changing(other, [lambda: past.demoted(by)], [sending])
    assert answer.status_code == 302
    assert past.stored(of) == before


@pytest.mark.slow
@pytest.mark.parametrize("page", ["form", "new administrator", "bar", "deletion"])
def test_t136_the_admin_site_leaves_an_account_empty_that_was_deleted_meanwhile(
    browser, past, account, admin, page
):
    by, of = admin(), account()
    sending = browser.enter(by).fill_in(*PAGES[page](of))
    [answer] = past.met_by([sending], (past.deleted, of))
    assert answer.status_code in {302, 403}


def test_t136_ones_own_password_in_the_admin_site_is_not_set_on_an_emptied_account(
    browser, past, admin
):
    by = admin()
    fields = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    sending = browser.enter(by).fill_in("/admin/password_change/", fields)
    [answer] = past.met_by([sending], (past.deleted, by))
    assert answer.status_code == 302


def test_t136_a_browser_log_in_leaves_no_trace_on_an_emptied_account(browser, past, admin):
    by = admin()
    fields = {"username": by.email, "password": PASSWORD}
    past.met_by([browser.fill_in("/api/session/login", fields)], (past.deleted, by))
    assert not browser.opens("/api/users/me")
