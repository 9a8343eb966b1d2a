"""Pages of the browsable API, as people read them."""

import html
import re

from django.test import Client

from users.models import User


def page_of(user: User | None, path: str, language: str = "en", **query: str) -> str:
    """The page at `path` in a browser session of `user`."""
    client = Client(headers={"Accept": "text/html", "Accept-Language": language})
    if user:
        client.force_login(user)
    return client.get(path, query).content.decode()


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
