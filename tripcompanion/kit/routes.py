"""The name of a request's route: its pattern, so that it contains no id and no token."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest
from django.urls import get_resolver
from django.urls.resolvers import RoutePattern

#: Static files, unknown paths, and what a middleware answers.
OTHER = "other"


def route_of(request: HttpRequest) -> str:
    """The route as in `urls.py`, such as `/api/trips/<id:trip_id>`, or `OTHER`."""
    match = request.resolver_match
    # The last route in `urls.py` is empty and matches every path.
    if match is None or not (match.route or request.path_info == "/"):
        return OTHER
    return f"/{match.route}"


@cache
def path_patterns() -> tuple[re.Pattern[str], ...]:
    """The paths of all routes without their first slash, with anything in place of parameters."""
    routes = _routes(get_resolver().url_patterns)
    # The last route matches every path.
    return tuple(re.compile(re.sub(r"<[^>]*>", "[^/]*", route)) for route in routes if route)


def _routes(patterns: Iterable[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern.pattern, RoutePattern):
            yield route
