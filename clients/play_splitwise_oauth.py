"""Logs PyPI's `splitwise` in by OAuth 2: `python play_splitwise_oauth.py <address> <secret>`.

The program `story` is registered with `BACK` and the secret. The client needs
`OAUTHLIB_INSECURE_TRANSPORT=1`.
"""

import re
import sys
from html import unescape
from urllib.parse import parse_qs, urlsplit

import requests
from accounts import Account
from play_splitwise import fails, point_to
from splitwise import Splitwise
from splitwise.exception import SplitwiseUnauthorizedException

BACK = "https://story.example/back"


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
    revoke(ana)
    fails(SplitwiseUnauthorizedException, client.getCurrentUser)
    fails(Exception, Splitwise("story", secret).getOAuth2AccessToken, answer["code"], BACK)


def main(url: str, secret: str) -> None:
    point_to(url)
    log_in_by_oauth_2(secret, Account(url, "Ana"))


if __name__ == "__main__":
    main(*sys.argv[1:])
