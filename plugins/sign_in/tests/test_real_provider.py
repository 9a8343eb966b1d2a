"""A certified provider, as it is, and the service, as it is: from the button to the account."""

import base64
import json
import secrets
import subprocess
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest

from tests.programs import do_without
from tests.server import ROOT, free_port, running_server
from tests.splits.journey import fresh_email

pytestmark = [pytest.mark.once, pytest.mark.slow]

LIBRARY = ROOT / "clients" / "node_modules" / "oidc-provider" / "lib" / "index.js"
SCRIPT = Path(__file__).with_name("provider.mjs")
CLIENT, CALLBACK = "trip-companion", "https://app.example.com/callback"


@contextmanager
def provider(algorithm):
    """A provider that signs with this algorithm; its issuer."""
    if not LIBRARY.exists():
        do_without("clients/node_modules is missing; `make clients` installs it")
    port = free_port()
    command = ["node", SCRIPT, LIBRARY, str(port), algorithm]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() == "listening":
                    break
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def id_token(issuer, subject, nonce):
    """What a front end gets after somebody has logged in there: a code, and for it a token."""
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "client_id": CLIENT,
        "response_type": "code",
        "scope": "openid email profile",
        "redirect_uri": CALLBACK,
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    with httpx.Client(base_url=issuer, trust_env=False) as browser:
        about = browser.get("/.well-known/openid-configuration").json()
        answer = browser.get(about["authorization_endpoint"], params=query)
        forms = [{"prompt": "login", "login": subject, "password": "x"}, {"prompt": "consent"}]
        while not (url := urljoin(issuer, answer.headers["Location"])).startswith(CALLBACK):
            is_form = "/interaction/" in url
            answer = browser.post(url, data=forms.pop(0)) if is_form else browser.get(url)
        code = parse_qs(urlsplit(url).query)["code"][0]
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": CLIENT,
            "code_verifier": verifier,
        }
        return browser.post(about["token_endpoint"], data=body).json()["id_token"]


def signing_in(issuer):
    return json.dumps([{"provider": "own", "name": "Own", "issuer": issuer, "clientId": CLIENT}])


def log_in(server, issuer, subject):
    nonce = httpx.post(f"{server.url}/api/users/login/oidc/nonce").json()["nonce"]
    body = {"provider": "own", "idToken": id_token(issuer, subject, nonce)}
    return httpx.post(f"{server.url}/api/users/login/oidc", json=body)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_somebody_logs_in_with_a_provider(algorithm):
    with provider(algorithm) as issuer, running_server(OIDC_PROVIDERS=signing_in(issuer)) as server:
        [shown] = httpx.get(f"{server.url}/api/users/login/methods").json()["oidc"]
        assert shown["issuer"] == issuer
        subject = fresh_email().partition("@")[0]
        first = log_in(server, issuer, subject)
        assert first.status_code == 201, first.text
        assert first.json()["user"]["email"] == f"{subject}@example.com"
        again = log_in(server, issuer, subject)
        assert again.status_code == 200
        assert again.json()["user"] == first.json()["user"]
        unverified = log_in(server, issuer, "unverified")
        assert (unverified.status_code, unverified.json()["code"]) == (409, "link_first")
        login = first.json()
        headers = {"Authorization": f"Bearer {login['token']}"}
        assert httpx.get(f"{server.url}/api/users/me", headers=headers).json() == login["user"]
