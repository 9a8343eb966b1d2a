"""Where a page of the browsable API is among the others: its breadcrumbs, and links to neighbours.

All of it follows from the URL map. The names of rows come from the views; see `ApiViewSet`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from django.urls import Resolver404, URLResolver, get_resolver, resolve
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request, override_method


class Link(NamedTuple):
    """A link to a page: its name, its path, and a note such as an amount."""

    name: str
    path: str
    note: str = ""


def view_at(path: str, request: Request) -> Any:
    """The viewset that serves `path`, prepared for the caller of `request`, or None."""
    try:
        match = resolve(path)
    except Resolver404:
        return None
    serve: Any = match.func
    actions = getattr(serve, "actions", None)
    if not actions:
        return None
    view = serve.cls(**serve.initkwargs)
    view.action_map, view.args, view.kwargs = actions, match.args, match.kwargs
    view.request, view.format_kwarg, view.action = request, None, None
    for method, action in actions.items():
        setattr(view, method, getattr(view, action))
    return view


def permits(view: Any, method: str, found: Any) -> bool:
    """Whether the caller may send `method` to the route of `view`, for the row `found`."""
    if method.lower() not in view.action_map:
        return False
    with override_method(view, view.request, method):
        try:
            return bool(view.permits_on_page(found))
        except APIException:
            return False


def read(view: Any) -> Any:
    """The data that a GET of the route of `view` returns, or None if it is refused."""
    with override_method(view, view.request, "GET") as request:
        try:
            view.check_permissions(request)
            return getattr(view, view.action_map["get"])(request, *view.args, **view.kwargs).data
        except APIException:
            return None


def breadcrumbs(view: Any, path: str, names: Mapping[str, str]) -> list[Link]:
    """A link for each page above `path` and for `path` itself.

    `names` are those of the rows that the parameters of the path name.
    """
    crumbs = []
    parts = path.strip("/").split("/")
    for end in range(1, len(parts) + 1):
        above = "/" + "/".join(parts[:end])
        is_page = above == path
        found = view if is_page else view_at(above, view.request)
        if found is not None and (is_page or "get" in found.action_map):
            crumbs.append(Link(_name_of(found, above, names), above))
    return crumbs


def _name_of(view: Any, path: str, names: Mapping[str, str]) -> str:
    """The name of the row if the last segment of `path` is a parameter, else the view's title."""
    parameter = _parameter(resolve(path).route.rpartition("/")[2])
    if parameter:
        return names.get(parameter) or str(view.kwargs[parameter])
    return title_of(view, path)


def title_of(view: Any, path: str) -> str:
    """The title of the collection or command at `path`."""
    action = view.action_map.get("get") or next(iter(view.action_map.values()))
    return view.title_of(action) or path.rpartition("/")[2].replace("-", " ").capitalize()


def below(view: Any, path: str, found: Any) -> Iterator[Link]:
    """Links to the pages one segment below `path` that the caller may use."""
    above = resolve(path).route
    for route in _routes():
        parent, _slash, segment = route.rpartition("/")
        if parent != above or "<" in segment:
            continue
        child = view_at(f"{path}/{segment}", view.request)
        if child and _is_same(view, child):
            continue
        if child and any(permits(child, method.upper(), found) for method in child.action_map):
            yield Link(title_of(child, segment), f"{path}/{segment}")


def _is_same(view: Any, other: Any) -> bool:
    """Whether `other` serves another path of the same resource."""
    return type(view) is type(other) and view.action_map.get("get", 0) == other.action_map.get(
        "get"
    )


def rows(view: Any, path: str, items: list[Any]) -> list[Link]:
    """A link to each of the listed rows that has a page."""
    parameter = _row_parameters().get(resolve(path).route)
    links = []
    for item in items:
        if target := view.path_of_row(item) or _below_list(path, parameter, item):
            links.append(Link(_name_of_row(item), target, _note_of_row(item)))
    return links


def _below_list(path: str, parameter: str | None, item: Mapping[str, Any]) -> str:
    """The path of a row of the list at `path`, if the list has a route for its rows."""
    # A member is identified by their user id.
    shown = item.get("user") if parameter == "user_id" else item
    return f"{path}/{shown['id']}" if parameter and shown and "id" in shown else ""


def _name_of_row(item: Mapping[str, Any]) -> str:
    if "from" in item and "to" in item:
        return f"{item['from']['name']} → {item['to']['name']}"
    person = item.get("participant") or item.get("user") or {}
    names = (item.get(key) for key in ("title", "description", "name", "device"))
    return next(filter(None, names), None) or person.get("name") or f"#{item.get('id', '')}"


def _note_of_row(item: Mapping[str, Any]) -> str:
    for key in ("balance", "amount"):
        if key in item:
            return f"{item[key]} {item.get('currency', '')}".strip()
    return str(item.get("role") or item.get("destination") or "")


def pages(data: Mapping[str, Any], request: Request) -> list[Link]:
    """Links to the previous and the next page of a list."""
    links = []
    for name, number in ((_("Previous"), data["page"] - 1), (_("Next"), data["page"] + 1)):
        if 1 <= number <= data["totalPages"]:
            query = request.query_params.copy()
            query["page"] = str(number)
            links.append(Link(name, f"{request.path}?{query.urlencode()}"))
    return links


@cache
def _routes() -> tuple[str, ...]:
    """The routes of all viewsets, in the order of the URL map."""
    return tuple(_routes_in(get_resolver().url_patterns, ""))


@cache
def _row_parameters() -> Mapping[str, str]:
    """The parameter that identifies a row, by the route of its list."""
    split = (route.rpartition("/") for route in _routes())
    return {parent: _parameter(end) for parent, _slash, end in split if _parameter(end)}


def _parameter(segment: str) -> str:
    """`user_id` for `<id:user_id>`; empty for a segment without a parameter."""
    return segment.strip("<>").rpartition(":")[2] if segment.startswith("<") else ""


def _routes_in(patterns: list[Any], start: str) -> Iterator[str]:
    for pattern in patterns:
        route = f"{start}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _routes_in(pattern.url_patterns, route)
        elif hasattr(pattern.callback, "actions"):
            yield route
