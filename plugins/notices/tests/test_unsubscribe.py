"""The link in a mail with notices, which turns them off without a log-in."""

import re

import pytest
from django.test import Client

from plugins.notices.tests.waiting import waiting, wanting
from tests.document import problem_of
from tests.factories import overwrite

pytestmark = pytest.mark.either


@pytest.fixture
def link(ledger, olga, ed, settings, delivered):
    """The link to unsubscribe in a mail to Ed."""
    settings.PUBLIC_URL = "https://api.example.com"
    wanting(ed)
    ledger.spend(olga, 60, olga, ed)
    [message] = delivered()
    headers = message.extra_headers
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url = re.fullmatch(r"<(https://api\.example\.com/unsubscribe\?token=[\w:-]+)>",
                       headers["List-Unsubscribe"])[1]  # fmt: skip
    assert f"\n{url}\n" in message.body
    return url.removeprefix("https://api.example.com")


def mode_of(user):
    user.refresh_from_db()
    return user.notice_mode


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "multipart"])
def test_one_click_unsubscribes_without_a_log_in_once_and_again(
    link, ledger, olga, ed, content_type
):
    ledger.spend(olga, 60, olga, ed)
    client = Client(enforce_csrf_checks=True)
    for _time in range(2):
        if content_type == "multipart":
            response = client.post(link, {"List-Unsubscribe": "One-Click"})
        else:
            response = client.post(link, "List-Unsubscribe=One-Click", content_type)
        assert response.status_code == 200
        assert "no more of these" in response.content.decode()
        assert (mode_of(ed), waiting(ed)) == ("off", [])


def test_opening_the_link_only_asks(link, ed):
    client = Client()
    for method in (client.get, client.head):
        assert method(link).status_code == 200
        assert mode_of(ed) == "each"
    page = client.get(link, headers={"Accept-Language": "es"}).content.decode()
    assert '<form method="post">' in page
    assert '<html lang="es">' in page
    assert "<script" not in page
    assert ed.email not in page


def test_a_token_is_of_one_account_and_address_and_cannot_be_made_up(link, ed, olga):
    """T164: The link to unsubscribe works for one account, and only for that."""
    client = Client()
    for token in ("", "x", link.partition("=")[2][:-1], "%00", "WzEsICJ4Il0:x:y"):
        problem_of(client.post(f"/unsubscribe?token={token}"), 404 if token != "%00" else 400)
    assert mode_of(ed) == "each"
    overwrite(ed, email_key="another@example.com")
    problem_of(client.post(link), 404)
    assert mode_of(ed) == "each"
    problem_of(client.put(link), 405)


@pytest.mark.django_db
def test_the_form_of_a_stranger_is_short():
    refused = Client().post("/unsubscribe", {"List-Unsubscribe": "a" * 16 * 1024})
    assert problem_of(refused, 413)["detail"] == "The body is larger than 16384 bytes."
