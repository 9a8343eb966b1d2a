"""The browsable API: DRF's pages, with names in the path, a list of rows, and links.

All of it comes from the data of the response and from the URL map; views know nothing of pages.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

from django.http import Http404
from django.urls import Resolver404, get_urlconf, resolve
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.request import override_method

from tripcompanion.api.rendering import BrowsableRenderer, ExactJSONRenderer
from tripcompanion.api.url_map import routes_of

#: The fields that name an object, the first one that has a value.
_NAMES = ("title", "description", "name", "device", "text", "url")
#: The fields that hold what an object is about; it has the name of the first one, without its own.
_SUBJECTS = ("user", "participant", "by", "expense", "trip")
_PARAMETER = re.compile(r"<\w+:(\w+)>")
_PERSON = "<id:user_id>"


class Link(NamedTuple):
    """A name, the path it leads to (empty if there is none), and a note such as an amount."""

    name: str
    path: str
    note: str = ""


class NamingRenderer(BrowsableRenderer):
    """The browsable API with names; its template is `rest_framework/api.html`."""

    def render_form_for_serializer(self, serializer: Any) -> Any:
        for name, field in serializer.fields.items():
            field.label = _title_of(_snake_case(name).replace("_", "-"))
            # Nothing is chosen in advance.
            field.allow_blank = not field.required
        return super().render_form_for_serializer(serializer)

    def get_raw_data_form(self, data: Any, view: Any, method: str, request: Any) -> Any:
        """DRF's form, which is empty or contains the values that were sent and refused."""
        form = super().get_raw_data_form(data, view, method, request)
        is_sent = request.method == method or {request.method, method} == {"PUT", "PATCH"}
        if form and is_sent and self.renderer_context["response"].status_code >= 400:
            # The body may be no JSON, or a file.
            with suppress(APIException, TypeError):
                if request.data:
                    sent = ExactJSONRenderer().render(request.data, None, {"indent": 4})
                    form.fields["_content"].initial = sent.decode()
        return form

    def get_context(
        self, data: Any, accepted_media_type: str | None, renderer_context: Mapping[str, Any]
    ) -> dict[str, Any]:
        context = super().get_context(data, accepted_media_type, renderer_context)
        view, response = renderer_context["view"], renderer_context["response"]
        if getattr(view, "action_map", None) is None:
            return context
        page = _Page(view, response, data)
        crumbs = page.breadcrumbs()
        rows = list(page.rows())
        context |= {
            "breadcrumblist": [(crumb.name, crumb.path) for crumb in crumbs],
            "name": crumbs[-1].name,
            "links": list(page.links()),
            "rows": rows,
        }
        if rows and page.is_list:
            # Shown instead of the JSON, which is collapsed below.
            context |= {"content": "", "json": context["content"]}
        return context


class _Page:
    """What the page of a response shows in addition to DRF's."""

    def __init__(self, view: Any, response: Any, data: Any) -> None:
        self.view, self.request, self.path = view, view.request, view.request.path
        self.route = resolve(self.path).route
        self.is_ok, self.location = response.status_code < 400, response.get("Location", "")
        self.may_read = response.status_code < 500
        content = ExactJSONRenderer().render(data) if self.is_ok else b""
        #: As clients read it.
        self.data = json.loads(content, parse_float=Decimal) if content else None
        items = self.data
        if isinstance(items, dict):
            # An expense has `items`, too, which are no rows.
            items = None if "id" in items else items.get("items")
        self.is_list = isinstance(items, list)
        found = {"": items} if self.is_list else self.data
        self.lists = found if isinstance(found, dict) else {}

    def breadcrumbs(self) -> list[Link]:
        """A link for each page above this one, and for this one."""
        crumbs = []
        parts = self.path.strip("/").split("/")
        for end in range(1, len(parts) + 1):
            path = "/" + "/".join(parts[:end])
            with suppress(Resolver404):
                match: Any = resolve(path)
                if path == self.path or "get" in getattr(match.func, "actions", ()):
                    crumbs.append(Link(self._title(path, match), path))
        return crumbs

    def _title(self, path: str, match: Any) -> str:
        """The name of the row if the path ends in a parameter, else the last word of the path."""
        word = path.rpartition("/")[2]
        if not match.route.endswith(">"):
            return str(match.func.initkwargs.get("name") or _title_of(word))
        name = _name_of(self.data if path == self.path else self._read(match))
        if not name and match.route.endswith(_PERSON):
            name = _name_of(self._read(resolve(f"/api/users/{word}")))
        return name or word

    def _read(self, match: Any) -> Any:
        """What a GET of this route returns, or None if the caller may not see it."""
        if not self.may_read:
            return None
        view = match.func.cls(**match.func.initkwargs)
        view.action_map, view.kwargs, view.format_kwarg = match.func.actions, match.kwargs, None
        with override_method(view, self.request, "GET") as request:
            try:
                view.perform_authentication(request)
                view.check_permissions(request)
                return getattr(view, view.action)(request, **match.kwargs).data
            except (APIException, Http404):
                return None

    def links(self) -> Iterator[Link]:
        """A link to what was created, and the pages below this one."""
        if self.location:
            yield Link(_name_of(self.data) or self.location, self.location)
        if not self.is_ok and self.request.method == "GET":
            return
        own_parameter, titles = self.route.rpartition("/")[2], set()
        for route in _routes():
            above, _slash, word = route.rpartition("/")
            # An expense and a person have pages under more than one path.
            is_below = above == self.route or (
                own_parameter.startswith("<") and above.endswith(f"/{own_parameter}")
            )
            path = is_below and not word.startswith("<") and _filled(route, self.view.kwargs)
            if path and word not in titles:
                titles.add(word)
                yield Link(_title_of(word), path)

    def rows(self) -> Iterator[Link]:
        """The listed rows if they have names, and those in lists of an object that have pages."""
        for key, items in self.lists.items():
            for item in items if isinstance(items, list) else ():
                if name := _name_of(item):
                    path = self._path_of(item, key)
                    if path or self.is_list:
                        yield Link(name, path, _note_of(item))

    def _path_of(self, item: Mapping[str, Any], key: str) -> str:
        """The path of a row's page, which is below the list that has it; empty if there is none."""
        subject = item.get("object") or item
        kind = subject.get("type") or subject.get("kind")
        # The list of its kind, else of its key in an object, else this list.
        listed = f"/{kind.lower()}s" if kind else f"/{key or self.route}"
        above = {_snake_case(name): item[name] for name in item if name.endswith("Id")}
        routes = [route for route in _routes() if route.endswith(">")]
        below = [route for route in routes if f"/{route.rpartition('/')[0]}".endswith(listed)]
        # A pending debt has the id of its expense, and so has the path of a split.
        others = [route for route in routes if above and _PARAMETER.findall(route)[:-1] == [*above]]
        for route in below or others:
            parameter = _PARAMETER.findall(route)[-1]
            # A member is found by the id of the user.
            shown = item.get(parameter.removesuffix("_id"), subject)
            values = {**self.view.kwargs, **above, parameter: shown.get("id")}
            if path := values[parameter] and _filled(route, values):
                return path
        return ""


def _name_of(item: Any) -> str:
    """The name of an object in a response; empty if it has none."""
    if not isinstance(item, Mapping):
        return ""
    if "from" in item and "to" in item:
        return f"{item['from']['name']} → {item['to']['name']}"
    names = [*map(item.get, _NAMES), *(_name_of(item.get(key)) for key in _SUBJECTS)]
    return next(filter(None, names), "")


def _title_of(word: str) -> str:
    """The last word of a path as a title in the caller's language: `settle-up` as "Settle up"."""
    return _(word.replace("-", " ").capitalize())


def _snake_case(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


def _note_of(item: Mapping[str, Any]) -> str:
    for key in ("balance", "amount"):
        if key in item:
            return f"{item[key]} {item.get('currency', '')}".strip()
    return str(item.get("role") or item.get("destination") or "")


def _filled(route: str, values: Mapping[str, Any]) -> str:
    """The path of a route with these values for its parameters; empty if one is missing."""
    if not values.keys() >= set(_PARAMETER.findall(route)):
        return ""
    return "/" + _PARAMETER.sub(lambda match: str(values[match[1]]), route)


def _routes() -> Iterator[str]:
    """The routes of all viewsets, in the order of the URL map."""
    return (route for route, view in routes_of(get_urlconf()) if hasattr(view, "actions"))
