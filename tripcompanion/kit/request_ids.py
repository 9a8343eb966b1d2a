"""Request ids, which appear in the response, in problem documents, and in every log line."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
#: The ids accepted from a client or a proxy; any other id is replaced, not rejected.
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")

logger = logging.getLogger("tripcompanion.requests")
_current: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of this thread's current or last request."""
    return _current.get()


class RequestIds:
    """The outermost middleware: gives every request an id, and logs it at level INFO.

    The line contains no query and no body, and the path as masked by `kit/logs.py`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        called = given if _ACCEPTABLE.fullmatch(given) else uuid.uuid4().hex
        # Not reset at the end, because Django logs errors after all middlewares have run.
        _current.set(called)
        started = time.perf_counter()
        response = self.get_response(request)
        response[HEADER] = called
        if logger.isEnabledFor(logging.INFO):
            duration_ms = round((time.perf_counter() - started) * 1000, 1)
            seen = {"status": response.status_code, "duration_ms": duration_ms}
            logger.info("%s %s", request.method, request.path, extra=seen)
        return response
