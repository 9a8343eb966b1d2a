"""The WSGI function: it finds the route, verifies the token and calls one handler."""

import os
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs

import jwt
import orjson

from . import reads, writes
from .database import connection

_KEY = os.environ["SECRET_KEY"]
_STATUS = {
    200: "200 OK",
    201: "201 Created",
    401: "401 Unauthorized",
    403: "403 Forbidden",
    404: "404 Not Found",
}
_ROUTES = [
    (method, re.compile(f"/api/{path}"), handler)
    for method, path, handler in (
        ("GET", r"trips/(\d+)/expenses/(\d+)", reads.expense),
        ("GET", r"trips/(\d+)/expenses", reads.page),
        ("GET", r"trips/(\d+)/balances", reads.balances),
        ("GET", r"trips/(\d+)/settle-up", reads.plan),
        ("GET", r"trips/(\d+)/statistics", reads.statistics),
        ("GET", r"trips/(\d+)/itinerary", reads.itinerary),
        ("GET", r"trips/my-trips", reads.trips),
        ("GET", r"users/me/statistics", reads.personal),
        ("GET", r"users/(\d+)/pending-debts", reads.pending),
        ("GET", r"users/(\d+)/total-debt", reads.total),
        ("POST", r"trips/(\d+)/expenses", writes.create),
        ("PUT", r"expenses/(\d+)/splits/(\d+)/pay", writes.pay),
    )
]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    status, answer = _answer(environ)
    body = b"" if answer is None else orjson.dumps(answer, option=orjson.OPT_UTC_Z)
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response(_STATUS[status], headers)
    return [body]


def _answer(environ: dict[str, Any]) -> tuple[int, Any]:
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    body: dict[str, Any] = {}
    if length := int(environ.get("CONTENT_LENGTH") or 0):
        body = orjson.loads(environ["wsgi.input"].read(length))
    if path == "/api/users/login":
        return writes.log_in(connection(), body, _KEY)
    try:
        caller_id = _caller_id(environ.get("HTTP_AUTHORIZATION", ""))
    except jwt.PyJWTError:
        return 401, None
    for verb, pattern, handler in _ROUTES:
        if verb == method and (found := pattern.fullmatch(path)):
            ids = map(int, found.groups())
            extra: tuple[Any, ...] = (body,) if verb == "POST" else ()
            if handler is reads.statistics:
                extra = (parse_qs(environ["QUERY_STRING"])["by"][0],)
            return handler(connection(), caller_id, *ids, *extra)
    return 404, None


def _caller_id(authorization: str) -> int:
    claims = jwt.decode(
        authorization.removeprefix("Bearer "),
        _KEY,
        algorithms=["HS256"],
        audience="tripcompanion",
        issuer="tripcompanion",
    )
    return int(claims["sub"])
