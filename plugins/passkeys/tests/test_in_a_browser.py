"""The code of the front-end guide makes and uses a passkey, in a real browser."""

import json
import re

import httpx
import pytest

from tests.chromium import chromium, front_end
from tests.document import ROOT
from tests.passwords import PASSWORD
from tests.splits.journey import fresh_email

pytestmark = pytest.mark.once

GUIDE = (ROOT / "docs" / "front-end.md").read_text()
PAGE = """
<!doctype html><title>Passkeys</title><script>
let token = TOKEN;
const api = async (method, path, body) => {
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const sent = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch("URL" + path, sent);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};
CODE
const show = (promise) => promise.then(
  (value) => (window.shown = JSON.stringify(value)), (error) => (window.shown = String(error)));
</script>
"""


@pytest.mark.needs("chromium")
def test_the_code_of_the_guide_adds_a_passkey_and_logs_in_with_it(server, tmp_path):
    (code,) = re.findall(r"^```js\n(async function addPasskey.*?)^```$", GUIDE, re.M | re.S)
    api, email = f"{server.url}/api", fresh_email()
    account = {"name": "Olga", "email": email, "password": PASSWORD}
    token = httpx.post(f"{api}/users/register", json=account).json()["token"]
    page_of_olga = PAGE.replace("CODE", code).replace("URL", api)
    with (
        front_end(page_of_olga.replace("TOKEN", json.dumps(token))) as origin,
        chromium(tmp_path) as page,
    ):
        page.call("WebAuthn.enable")
        phone = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True}
        phone |= {"hasUserVerification": True, "isUserVerified": True}
        added = page.call("WebAuthn.addVirtualAuthenticator", options=phone)
        page.open(origin)
        page.run("show(addPasskey('Phone')), 0")
        passkey = json.loads(page.wait_for("window.shown"))
        assert passkey["name"] == "Phone"
        page.run("window.shown = '', token = '', show(logInWithPasskey()), 0")
        assert json.loads(page.wait_for("window.shown"))["user"]["email"] == email
        # The browser does not make a second one in the same authenticator.
        page.run(f"window.shown = '', token = {json.dumps(token)}, show(addPasskey('Again')), 0")
        assert page.wait_for("window.shown").startswith("InvalidStateError")
        stored = page.call("WebAuthn.getCredentials", authenticatorId=added["authenticatorId"])
        (credential,) = stored["credentials"]
        assert (credential["rpId"], credential["isResidentCredential"]) == ("localhost", True)
    shown = httpx.get(f"{api}/users/me/passkeys", headers={"Authorization": f"Bearer {token}"})
    assert [row["id"] for row in shown.json()["items"] if row["lastUsedAt"]] == [passkey["id"]]
