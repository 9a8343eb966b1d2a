"""The forms of the browsable API, and the page of the documentation, in headless Chromium."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.chromium import Page, chromium
from tests.factories import PASSWORD
from tests.server import Server

pytestmark = pytest.mark.once


@pytest.fixture
def tab(server: Server, tmp_path: Any) -> Iterator[Page]:
    """A tab of Nora's browser, registered and logged in by the pages' own forms."""
    email = f"nora{tmp_path.name}@example.com"
    with chromium(tmp_path, "--accept-lang=en") as page:
        page.open(f"{server.url}/api/users/register")
        page.fill("[name=email]", email)
        page.fill("[name=password]", PASSWORD)
        submit(page, "#post-form button")
        page.open(f"{server.url}/api/session/login?next=/api/trips")
        page.fill("#id_username", email)
        page.fill("#id_password", PASSWORD)
        submit(page, "main button")
        yield page
        assert page.errors == []


def submit(page: Page, button: str) -> None:
    """Click `button`, and wait for the page that answers."""
    page.run("document.body.id = 'sent'")
    page.click(button)
    page.wait_for("document.body.id !== 'sent' && document.readyState === 'complete' && !!window.$")


def test_the_forms_of_a_page_work_in_a_real_browser(tab: Page) -> None:
    tab.fill("[name=title]", "")
    submit(tab, "#post-form button")
    assert "may not be blank" in tab.run("document.querySelector('.has-error').innerText")
    tab.fill("[name=title]", "Porto")
    tab.fill("[name=startDate]", "2026-05-14")
    tab.fill("[name=endDate]", "2026-05-18")
    tab.fill("[name=description]", 'Two\n"lines"')
    submit(tab, "#post-form button")
    trip = tab.run("document.querySelector('.alert-success a').href")
    tab.open(trip)
    tab.fill("[name=endDate]", "2026-01-01")
    submit(tab, "#put-form [title*=changed]")
    assert "HTTP 400" in tab.text
    assert tab.run("document.querySelector('.has-error [name]').name") == "endDate"
    tab.fill("[name=endDate]", "2026-05-20")
    tab.fill("[name=budget]", "")
    submit(tab, "#put-form [title*=changed]")
    for text in ('"budget": null', '"endDate": "2026-05-20"', r'"Two\n\"lines\""'):
        assert text in tab.text
    tab.open(f"{trip}/expenses")
    tab.fill("[name=participantUserIds]", "[1,")
    tab.click("#post-form button")
    assert not tab.run("document.querySelector('[name=participantUserIds]').checkValidity()")
    tab.open(f"{trip}/expenses")
    tab.fill("[name=amount]", "12.30")
    submit(tab, "#post-form button")
    assert '"amount": 12.30' in tab.text
    tab.open(trip)
    submit(tab, "#delete-form button")
    assert "HTTP 204" in tab.text


def test_what_was_authorized_in_swagger_ui_stays_over_a_reload(
    server: Server, tmp_path: Any
) -> None:
    with chromium(tmp_path) as page:
        page.open(f"{server.url}/api/docs")
        page.wait_for("!!document.querySelector('button.authorize')")
        top = "document.querySelector('.opblock-summary-path').dataset.path"
        assert page.wait_for(top) == "/api/users/register"
        page.click("button.authorize")
        first = "document.querySelector('.auth-container h4').innerText"
        assert "bearer" in page.wait_for(first)
        page.fill(".auth-container input", "a-token")
        page.click(".auth-container button.authorize")
        page.open(f"{server.url}/api/docs")
        page.wait_for("!!document.querySelector('button.authorize')")
        assert page.run("ui.authSelectors.authorized().getIn(['bearer', 'value'])") == "a-token"
