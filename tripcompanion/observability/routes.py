"""The name of a request's route: its pattern, so that it contains no id and no token."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.urls import get_resolver
from django.urls.resolvers import RoutePattern

#: Static files, unknown paths, and requests that a middleware answers.
OTHER = "other"


def route_of(request: HttpRequest) -> str:
    """The route as in `urls.py`, such as `/api/trips/<id:trip_id>`, or `OTHER`."""
    match = request.resolver_match
    # The last route in `urls.py` is empty and matches every path.
    if match is None or not (match.route or request.path_info == "/"):
        return OTHER
    return f"/{match.route}"


@cache
def areas() -> frozenset[str]:
    """The beginnings of all paths that have a route: `admin`, `api/trips`, `api/users`."""
    return frozenset(map(area_of, _routes(get_resolver().url_patterns)))


def area_of(path: str) -> str:
    """The first segment of a path without its first slash; for the API, the first two."""
    segments = path.split("/")
    return "/".join(segments[: 2 if segments[0] == "api" else 1])


def _routes(patterns: Iterable[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        # The others belong to the admin site.
        if isinstance(pattern.pattern, RoutePattern):
            route = prefix + str(pattern.pattern)
            yield from (
                _routes(pattern.url_patterns, route)
                if hasattr(pattern, "url_patterns")
                else [route]
            )
