"""Logs PyPI's `splitwise` in by OAuth: `python play_splitwise_oauth.py <address> <secrets>`.

The program `story` is registered with `BACK` and the first secret; the second one is what
`manage.py oauth1_secret story` prints. The client needs `OAUTHLIB_INSECURE_TRANSPORT=1`.
`prometheus-splitwise-exporter` then runs with the token of OAuth 1.0a.
"""

import io
import json
import re
import runpy
import sys
import tempfile
from decimal import Decimal
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import requests
from accounts import Account
from play_splitwise import create, expense, fails, part, point_to
from prometheus_client.parser import text_string_to_metric_families
from splitwise import Splitwise
from splitwise.exception import SplitwiseUnauthorizedException
from splitwise.group import Group
from splitwise.user import User

BACK = "https://story.example/back"
EXPORTER = Path(sys.executable).with_name("prometheus-splitwise-exporter.py")
#: What the exporter fetches from a public service: how much of a currency a pound is worth.
RATES = {"GBP": 1, "EUR": 1.25, "USD": 1.5}


def allow(asked: str, account: Account) -> dict[str, str]:
    """Log in and allow what `asked` asks for, as in a browser; returns what the program learns."""
    browser = requests.Session()
    page = browser.get(asked, timeout=30)
    body = {"username": account.email, "password": "a long password"}
    body["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
    page = browser.post(page.url, body, timeout=30)
    fields = re.findall(r'type="hidden" name="(\w+)"(?: value="([^"]*)")?', page.text)
    consent = {name: unescape(value) for name, value in fields} | {"allow": "true"}
    back = browser.post(page.url, consent, timeout=30, allow_redirects=False)
    query = parse_qs(urlsplit(back.headers["Location"]).query)
    return {name: value for name, [value] in query.items()}


def revoke(account: Account) -> None:
    """Revoke the only token of a program, in the list of tokens."""
    [listed] = [one for one in account.ask("/users/me/tokens")["items"] if one["name"] != "Story"]
    account.ask(f"/users/me/tokens/{listed['id']}", method="DELETE")


def log_in_by_oauth_2(secret: str, ana: Account) -> None:
    client = Splitwise("story", secret)
    asked, state = client.getOAuth2AuthorizeURL(BACK)
    answer = allow(asked, ana)
    assert answer["state"] == state
    token = client.getOAuth2AccessToken(answer["code"], BACK)
    client.setOAuth2AccessToken(token)
    assert client.getCurrentUser().getId() == ana.id
    assert [group.getId() for group in client.getGroups()] == [0]
    fails(Exception, Splitwise("story", secret).getOAuth2AccessToken, answer["code"], BACK)
    revoke(ana)
    fails(SplitwiseUnauthorizedException, client.getCurrentUser)


def log_in_by_oauth_1(secret: str, ana: Account) -> None:
    client = Splitwise("story", secret)
    asked, request_secret = client.getAuthorizeURL()
    answer = allow(asked, ana)
    exchange = answer["oauth_token"], request_secret, answer["oauth_verifier"]
    token = client.getAccessToken(*exchange)
    fails(SplitwiseUnauthorizedException, client.getAccessToken, *exchange)
    client.setAccessToken(token)
    assert client.getCurrentUser().getId() == ana.id
    spend(client, ana)
    compare(exported(secret, token), client, ana)
    forged = Splitwise("story", secret, {**token, "oauth_token_secret": "x"})
    fails(SplitwiseUnauthorizedException, forged.getCurrentUser)
    revoke(ana)
    fails(SplitwiseUnauthorizedException, client.getCurrentUser)


def spend(client: Splitwise, ana: Account) -> None:
    """Record what Bob owes Ana in two currencies, and what she owes a guest of a group."""
    bob = Account(ana.url, "Bob")
    friend = part(bob.id, "0", "9.5")
    friend.setEmail(bob.email)
    friend.id = None
    create(client, expense("19", "Żurek & tea", part(ana.id, "19", "9.5"), friend))
    taxi = expense("4.25", "Taxi", part(ana.id, "4.25", "0"), part(bob.id, "0", "4.25"))
    taxi.setCurrencyCode("USD")
    create(client, taxi)
    flat, guest = Group(), User()
    flat.setName("Flat")
    guest.setFirstName("Carla")
    flat.setMembers([guest])
    group, errors = client.createGroup(flat)
    assert errors is None
    [carla] = [one.getId() for one in group.getMembers() if one.getId() != ana.id]
    shares = part(ana.id, "0", "12.34"), part(carla, "12.34", "0")
    create(client, expense("12.34", "Rent", *shares, group_id=group.getId()))


def exported(secret: str, token: dict[str, str]) -> dict[str, dict[tuple[str, ...], float]]:
    """Run the exporter as it is; returns its gauges by name and labels."""
    rates = SimpleNamespace(status_code=200, json=lambda: {"rates": RATES})
    names = {"Token": token["oauth_token"], "TokenSecret": token["oauth_token_secret"]}
    config = {"OAuthConfig": {"ConsumerKey": "story", "ConsumerSecret": secret}, "Token": names}
    written = io.BytesIO()
    output = io.TextIOWrapper(written)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.json")
        path.write_text(json.dumps(config))
        with (
            patch.object(sys, "argv", [str(EXPORTER), "--config", str(path)]),
            patch.object(sys, "stdout", output),
            patch.object(requests, "get", lambda _address: rates),
        ):
            runpy.run_path(str(EXPORTER), run_name="__main__")
    text = written.getvalue().decode()
    gauges: dict[str, Any] = {}
    for family in text_string_to_metric_families(text):
        values = {tuple(sorted(one.labels.values())): one.value for one in family.samples}
        gauges[family.name] = values
    return gauges


def compare(gauges: Any, client: Splitwise, ana: Account) -> None:
    """Compare with our own API: each of these trips has two members."""
    owed: dict[tuple[str, ...], float] = {}
    pounds: dict[tuple[str, ...], float] = {}
    emails = {one.getId(): one.getEmail() for one in client.getFriends()}
    for trip in ana.ask("/trips")["items"]:
        balances = ana.balances(trip["id"])
        [email] = [emails[user_id] for user_id in balances if user_id != ana.id]
        balance, currency = float(balances[ana.id]), trip["currency"]
        owed[tuple(sorted((currency, email)))] = balance
        pounds[(email,)] = pounds.get((email,), 0) + balance / RATES[currency]
    assert gauges["balance"] == owed, (gauges, owed)
    assert sorted(map(Decimal, map(str, owed.values()))) == [
        Decimal("-12.34"),
        Decimal("4.25"),
        Decimal("9.5"),
    ]
    assert gauges["gbp_balance"].keys() == pounds.keys()
    for label, value in pounds.items():
        assert abs(gauges["gbp_balance"][label] - value) < 1e-9


def main(url: str, secret: str, signing_secret: str) -> None:
    point_to(url)
    log_in_by_oauth_2(secret, Account(url, "Ana"))
    log_in_by_oauth_1(signing_secret, Account(url, "Ana"))


if __name__ == "__main__":
    main(*sys.argv[1:])
