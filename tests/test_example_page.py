"""The example page of the front-end guide works from another origin, in a real browser."""

import json
import re
from base64 import b64decode
from functools import partial

import httpx
import pytest

from tests.chromium import chromium, front_end
from tests.document import ROOT
from tests.splits.journey import fresh_email
from tests.trips.bodies import lisbon

pytestmark = pytest.mark.once

PAGE = (ROOT / "docs" / "examples" / "balances.html").read_text()
PASSWORD = "four-green-suitcases"
TRIP = lisbon(title="Lisbon", currency="EUR")
#: Description, amount, split type, and the figures of Olga and Ed.
EXPENSES = [
    ("Dinner", "62.55", "EQUAL", "", ""),
    ("Room", "240", "PERCENTAGE", "60", "40"),
    ("Tickets", "30", "MANUAL", "12.50", "17.50"),
    ("Boat", "90", "SHARES", "1", "2"),
]
#: Does what a person would: it fills in the forms, clicks, and notes what the page shows. Every
#: other answer about balances is late, so that later ones arrive before it.
PERSON = """
<script>
const send = window.fetch;
let asked = 0;
window.fetch = async (url, options) => {
  const isLate = String(url).endsWith("/balances") && asked++ % 2 === 0;
  const answer = await send(url, options);
  if (isLate) await new Promise((done) => setTimeout(done, 500));
  return answer;
};
</script>
<pre></pre><script type="module">
const $ = (selector) => document.querySelector(selector);
const until = async (find) => {
  for (let found; ; await new Promise((done) => setTimeout(done, 20)))
    if ((found = find())) return found;
};
const buttons = (place) => [...document.querySelectorAll(`${place} button`)];
const bars = () => [...document.querySelectorAll("#bars .row")].map((row) => ({
  name: row.firstChild.textContent, amount: row.lastChild.textContent,
  side: row.querySelector("i").className, width: row.querySelector("i").style.width,
}));
const logIn = async (email) => {
  $("#trips").replaceChildren();
  $("#login [name=email]").value = email;
  $("#login [name=password]").value = "PASSWORD";
  $("#login button").click();
  await until(() => buttons("#trips").length);
  $("#bars").replaceChildren();
  buttons("#trips")[0].click();
  await until(() => bars().length);
};
const seen = {};
try {
  await logIn("OLGA");
  seen.trip = $("#trip h2").textContent;
  for (const [description, amount, splitType, ...figures] of EXPENSES) {
    const before = JSON.stringify(bars());
    $("#expense [name=description]").value = description;
    $("#expense [name=amount]").value = amount;
    $("#expense select").value = splitType;
    figures.forEach((figure, at) => {
      document.querySelectorAll("#people input")[at].value = figure;
    });
    $("#expense button").click();
    await until(() => JSON.stringify(bars()) !== before);
  }
  seen.recorded = bars();
  $("#expense [name=description]").value = "Nothing";
  $("#expense [name=amount]").value = "0";
  $("#expense button").click();
  seen.refused = (await until(() => $("#expense button + [role=alert]"))).textContent;
  await logIn("ED");
  seen.owed = [...document.querySelectorAll("#debts li")].map((row) => row.firstChild.data);
  while (buttons("#debts").length) {
    const left = buttons("#debts").length;
    buttons("#debts")[0].click();
    await until(() => buttons("#debts").length < left);
  }
  seen.paid = bars();
} catch (error) {
  seen.error = String(error);
}
$("pre").textContent = JSON.stringify(seen);
</script>
"""


def call(server, token, method, path, body=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    url = f"{server.url}/api{path}"
    answer = httpx.request(method, url, json=body, headers=headers).raise_for_status()
    return answer.json() if answer.content else None


def register(server, name):
    body = {"name": name, "email": fresh_email(), "password": PASSWORD}
    return call(server, "", "POST", "/users/register", body)


@pytest.mark.needs("chromium")
def test_the_page_records_every_split_type_pays_and_draws_the_balances(server, tmp_path):
    olga, ed = (register(server, name) for name in ("Olga", "Ed"))
    api = partial(call, server, olga["token"])
    trip = api("POST", "/trips", TRIP)["id"]
    api("POST", f"/trips/{trip}/members", {"email": ed["user"]["email"], "role": "EDITOR"})
    person = PERSON.replace("EXPENSES", json.dumps(EXPENSES)).replace("PASSWORD", PASSWORD)
    person = person.replace("OLGA", olga["user"]["email"]).replace('ED"', f'{ed["user"]["email"]}"')
    with (
        front_end(PAGE.replace("</html>", person)) as origin,
        chromium(tmp_path, "--accept-lang=en") as page,
    ):
        page.open(f"{origin}/?api={server.url}/api")
        seen = json.loads(page.wait_for("document.querySelector('pre').textContent"))
    assert "error" not in seen, seen
    assert seen["trip"] == "Lisbon"
    owed = sum((31.27, 96, 17.50, 60))
    bar = {"side": "gets", "width": "50%"}
    # The odd cent of 62.55 is Olga's or Ed's, as the number of the expense decides.
    assert seen["recorded"][0] | {"amount": ""} == bar | {"name": "Olga", "amount": ""}
    assert seen["recorded"][1]["side"] == "owes"
    assert abs(float(seen["recorded"][0]["amount"].strip("€")) - owed) < 0.011
    assert seen["refused"] == "amount: Must not be 0."
    assert {text.partition(":")[0] for text in seen["owed"]} == {row[0] for row in EXPENSES}
    assert [row["amount"] for row in seen["paid"]] == ["€0.00", "€0.00"]
    balances = api("GET", f"/trips/{trip}/balances")
    assert [row["balance"] for row in balances] == [0, 0]
    expenses = api("GET", f"/trips/{trip}/expenses")["items"]
    assert {row["splitType"] for row in expenses} == {row[2] for row in EXPENSES}


@pytest.mark.needs("chromium")
def test_the_page_shows_at_once_what_is_recorded_in_another_browser(server, tmp_path):
    olga = register(server, "Olga")
    api = partial(call, server, olga["token"])
    api("POST", f"/trips/{api('POST', '/trips', TRIP)['id']}/guests", {"name": "Grandma"})
    with (
        front_end(PAGE) as origin,
        chromium(tmp_path / "one", "--accept-lang=en") as one,
        chromium(tmp_path / "other", "--accept-lang=en") as other,
    ):
        for page in (one, other):
            page.open(f"{origin}/?api={server.url}/api")
            page.fill("#login [name=email]", olga["user"]["email"])
            page.fill("#login [name=password]", PASSWORD)
            page.click("#login button")
            page.wait_for("!!document.querySelector('#trips button')")
            page.click("#trips button")
            page.wait_for("document.querySelectorAll('#bars .row').length === 2")
        for amount, balance in ((30, "15.00"), (8, "19.00")):
            one.fill("#expense [name=description]", "Dinner")
            one.fill("#expense [name=amount]", str(amount))
            one.click("#expense button")
            other.wait_for(f"document.querySelector('#bars').innerText.includes('{balance}')")


#: Whether a person who has clicked `button` sees the error: under it, and not cut off.
BESIDE = """
(() => {{
  const button = document.querySelector({button}).getBoundingClientRect();
  const alert = document.querySelector("[role=alert]").getBoundingClientRect();
  return alert.top - button.bottom < 40 && alert.top >= button.top && alert.bottom <= innerHeight
    && alert.left >= 0 && alert.right <= innerWidth
    && document.documentElement.scrollWidth <= innerWidth;
}})()
"""


@pytest.mark.needs("chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_an_error_is_shown_beside_the_button(server, tmp_path, width):
    olga = register(server, "Olga")
    path = f"/trips/{call(server, olga['token'], 'POST', '/trips', TRIP)['id']}"
    for number in range(20):
        call(server, olga["token"], "POST", f"{path}/guests", {"name": f"Guest {number}"})

    def press(button, said):
        page.run(f"document.querySelector({button!r}).scrollIntoView({{block: 'center'}})")
        page.click(button)
        text = page.wait_for("document.querySelector('[role=alert]')?.innerText")
        assert text == said
        assert page.run("document.querySelectorAll('[role=alert]').length") == 1
        assert page.run(BESIDE.format(button=json.dumps(button))), text

    with front_end(PAGE) as origin, chromium(tmp_path, "--accept-lang=en") as page:
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 844}
        page.call("Emulation.setDeviceMetricsOverride", **size)
        page.open(f"{origin}/?api={server.url}/api")
        page.fill("#login [name=email]", olga["user"]["email"])
        page.fill("#login [name=password]", "wrong")
        press("#login button", "The e-mail address or the password is wrong.")
        page.fill("#login [name=password]", PASSWORD)
        page.click("#login button")
        page.wait_for("!!document.querySelector('#trips button')")
        page.click("#trips button")
        page.wait_for("document.querySelectorAll('#bars .row').length === 21")
        page.fill("#expense [name=description]", "Dinner")
        page.fill("#expense [name=amount]", "0")
        press("#expense button", "amount: Must not be 0.")
        picture = page.call("Page.captureScreenshot", format="png")["data"]
        (tmp_path / "error.png").write_bytes(b64decode(picture))
        call(server, olga["token"], "DELETE", path)
        press("#trips button", "Not found.")


def test_the_guide_quotes_the_client_that_people_copy():
    client = (ROOT / "docs" / "examples" / "client.ts").read_text()
    guide = (ROOT / "docs" / "front-end.md").read_text()
    quoted = re.findall(r"^```ts\n(.*?)^```$", guide, re.M | re.S)
    assert len(quoted) >= 8
    for block in quoted:
        assert block in client
