"""The forms of the browsable API, and the page of the documentation, in headless Chromium."""

import json

import pytest

from tests.chromium import chromium
from tests.factories import PASSWORD

pytestmark = [pytest.mark.once, pytest.mark.needs("chromium")]

#: What a phone shows.
NARROW = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture
def tab(server, tmp_path):
    """A tab of Nora's browser, registered and logged in by the pages' own forms."""
    email = f"nora{tmp_path.name}@example.com"
    with chromium(tmp_path, "--accept-lang=en", "--hide-scrollbars") as page:
        page.call("Emulation.setDeviceMetricsOverride", **NARROW)
        page.open(f"{server.url}/api/users/register")
        send(page, "POST", email=email, password=PASSWORD)
        page.open(f"{server.url}/api/session/login?next=/api/trips")
        page.fill("#id_username", email)
        page.fill("#id_password", PASSWORD)
        submit(page, ".login button")
        yield page
        assert page.errors == []


def submit(page, button):
    """Click `button`, and wait for the page that answers, which fits its window."""
    page.run("document.body.id = 'sent'")
    page.click(button)
    page.wait_for("document.body.id !== 'sent' && document.readyState === 'complete' && !!window.$")
    assert page.run("document.documentElement.scrollWidth <= 390"), page.text


def send(page, method, **fields):
    """Fill in fields of the form for raw data, and send it by `method`."""
    area = "[data-override=content]"
    body = json.loads(page.run(f"document.querySelector('{area}').value"))
    page.fill(area, json.dumps(body | fields))
    submit(page, f"form:is([method={method}], [data-method={method}]) .form-actions button")


def follow(page, link):
    """Open the link with this text."""
    find = f"[...document.links].find((one) => one.innerText.trim().startsWith({json.dumps(link)}))"
    page.open(page.run(f"{find}.href"))
    assert page.run("document.documentElement.scrollWidth <= 390"), page.text


def test_a_trip_is_recorded_and_settled_by_forms_alone(tab):
    send(tab, "POST")
    assert "HTTP 400" in tab.text
    assert "may not be blank" in tab.text
    dates = {"startDate": "2026-05-14", "endDate": "2026-05-18"}
    send(tab, "POST", title="Porto", destination="Porto", description='Two\n"lines"', **dates)
    assert "HTTP 201" in tab.text
    follow(tab, "Porto")
    trip = tab.run("location.pathname")
    follow(tab, "Guests")
    send(tab, "POST", name="Bert")
    assert "HTTP 201" in tab.text
    tab.open(tab.run(f"location.origin + '{trip}'"))
    people = json.loads(tab.run("document.querySelector('.response-info pre').innerText")
                        .partition("\n\n")[2])["members"]  # fmt: skip
    nora, bert = (member["user"]["id"] for member in people)
    follow(tab, "Expenses")
    equal = {"splitType": "EQUAL", "participantUserIds": [nora, bert], "amount": "12.30"}
    for description in ("Dinner", "Tram"):
        send(tab, "POST", description=description, expenseDate="2026-05-15", **equal)
        assert "HTTP 201" in tab.text
        tab.open(tab.run(f"location.origin + '{trip}/expenses'"))
    follow(tab, "Dinner")
    follow(tab, "Bert")
    assert '"paid": false' in tab.text
    follow(tab, "Pay")
    send(tab, "PUT")
    assert '"paid": true' in tab.text
    tab.open(tab.run(f"location.origin + '{trip}/settle-up'"))
    shown = "document.querySelector('.response-info pre').innerText.match(/ETag: \"(\\w+)\"/)[1]"
    send(tab, "POST", tag=tab.run(shown))
    assert "HTTP 201" in tab.text
    tab.open(tab.run(f"location.origin + '{trip}/balances'"))
    assert tab.text.count("0.00") >= 2
    tab.open(tab.run(f"location.origin + '{trip}'"))
    tab.click("[data-target='#deleteModal']")
    submit(tab, "#deleteModal .btn-danger")
    assert "HTTP 204" in tab.text


@pytest.mark.slow
def test_what_was_authorized_in_swagger_ui_stays_over_a_reload(server, tmp_path):
    with chromium(tmp_path) as page:
        page.open(f"{server.url}/api/docs")
        page.wait_for("!!document.querySelector('button.authorize')")
        top = "document.querySelector('.opblock-summary-path').dataset.path"
        assert page.wait_for(top) == "/api/users/register"
        page.click("button.authorize")
        assert "bearer" in page.wait_for("document.querySelector('.auth-container h4').innerText")
        page.fill(".auth-container input", "a-token")
        page.click(".auth-container button.authorize")
        page.open(f"{server.url}/api/docs")
        page.wait_for("!!document.querySelector('button.authorize')")
        assert page.run("ui.authSelectors.authorized().getIn(['bearer', 'value'])") == "a-token"
