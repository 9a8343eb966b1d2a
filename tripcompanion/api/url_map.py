"""The URL map: a converter for its paths, and all of its routes."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from django.urls import URLResolver, get_resolver, register_converter
from django.urls.resolvers import RoutePattern

from tripcompanion.api.serializers import ID_PATTERN

Route = tuple[str, Callable[..., Any]]

#: The actions on a list, and on a row: as it is, if it can be changed in part or replaced, or both.
LIST: Any = {"get": "list", "post": "create"}
KEPT: Any = {"get": "retrieve", "delete": "destroy"}
CHANGED: Any = {**KEPT, "patch": "partial_update"}
REPLACED: Any = {**KEPT, "put": "update"}
ITEM: Any = {**CHANGED, "put": "update"}


class IdConverter:
    """An identifier; anything else does not match the path (404)."""

    # It matches all digits, even where another route continues after the identifier.
    regex = f"(?:{ID_PATTERN})(?![0-9])"

    to_python = int
    to_url = str


register_converter(IdConverter, "id")


@cache
def routes_of(urlconf: str | None) -> tuple[Route, ...]:
    """The routes of a URL map with their views, without those of the admin site; None is ours."""
    return tuple(_routes(get_resolver(urlconf).url_patterns, ""))


def _routes(patterns: list[Any], start: str) -> Iterator[Route]:
    for pattern in patterns:
        # The others belong to the admin site.
        if isinstance(pattern.pattern, RoutePattern):
            route = f"{start}{pattern.pattern}"
            if isinstance(pattern, URLResolver):
                yield from _routes(pattern.url_patterns, route)
            else:
                yield route, pattern.callback
