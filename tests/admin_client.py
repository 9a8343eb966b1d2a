"""The admin site as a browser sees it: pages, their forms, and what is sent back."""

import re
from base64 import b64decode
from html import unescape
from typing import Any

from django.db.models import Model
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from users.models import User


class AdminClient:
    """The admin site, with an administrator logged in."""

    def __init__(self, user: User) -> None:
        self.client = Client()
        self.client.force_login(user)

    def url(self, model: type[Model], page: str, *args: Any) -> str:
        return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)

    def list(self, model: type[Model], query: str = "") -> HttpResponse:
        return self.client.get(f"{self.url(model, 'changelist')}?{query}")

    def page(self, row: Model) -> HttpResponse:
        return self.client.get(self.url(type(row), "change", row.pk))

    def pictures(self, row: Model) -> dict[str, str]:
        """The pictures on the page of `row`, as SVG, by their titles."""
        page = self.page(row).content.decode()
        drawn = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)">', page)
        return {title: b64decode(data).decode() for data, title in drawn}

    def add(self, model: type[Model], **values: Any) -> HttpResponse:
        return self._send(self.url(model, "add"), values)

    def change(self, row: Model, **values: Any) -> HttpResponse:
        """Open the page of `row`, type in `values`, and save. None empties a field."""
        return self._send(self.url(type(row), "change", row.pk), values)

    def act(self, action: str, *rows: Model, **values: Any) -> HttpResponse:
        """Choose `rows` in their list, and do `action` to them."""
        data = {"action": action, "_selected_action": [row.pk for row in rows], **values}
        return self.client.post(self.url(type(rows[0]), "changelist"), data, follow=True)

    def delete(self, row: Model) -> HttpResponse:
        """Press delete on the page of `row`, and confirm."""
        return self.client.post(self.url(type(row), "delete", row.pk), {"post": "yes"}, follow=True)

    def press(self, button: str, row: Model) -> HttpResponse:
        """Press a button on the page of `row`; it must be there."""
        url = self.url(type(row), "act", row.pk, button)
        assert f'action="{url}"' in self.page(row).content.decode()
        return self.client.post(url, follow=True)

    def _send(self, url: str, values: dict[str, Any]) -> HttpResponse:
        data = {**sent_back(self.client.get(url)), **values}
        absent = {name for name, value in data.items() if value is None or value is False}
        typed_in = {name: value for name, value in data.items() if name not in absent}
        return self.client.post(url, typed_in, follow=True)


def sent_back(page: HttpResponse) -> dict[str, Any]:
    """What a browser sends if nothing is typed into the form of `page`."""
    form = page.context["adminform"].form
    return {name: form[name].value() for name in form.fields}


def errors(page: HttpResponse) -> dict[str, Any]:
    """The errors that the form of `page` shows, by field."""
    return page.context["adminform"].form.errors if page.context.get("adminform") else {}


def told(page: HttpResponse) -> list[str]:
    """The messages on top of `page`."""
    return [str(message) for message in page.context["messages"]]


def text(page: HttpResponse) -> str:
    """The source of `page`, with the blanks inside amounts made ordinary."""
    return page.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def tables(page: str) -> dict[str, list[list[str]]]:
    """The cells of the tables that stand beside labels; an icon is what it says."""
    found = {}
    labelled = r"<label>([^<]+)</label>(?:(?!<label>).)*?<tbody>(.*?)</tbody>"
    for label, table in re.findall(labelled, page, re.S):
        rows = re.findall(r"<tr>(.*?)</tr>", re.sub(r'<img [^>]*alt="(\w+)">', r"\1", table), re.S)
        cells = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in rows]
        found[label] = [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in cells]
    return found
