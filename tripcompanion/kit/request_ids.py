"""What a request is called: in its answer, in a problem, and in every line of its log."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

HEADER = "X-Request-ID"
#: What a client or a proxy may call a request; anything else is replaced, not refused.
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")

logger = logging.getLogger("tripcompanion.requests")
_current: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request that this thread is answering, or has answered last."""
    return _current.get()


class RequestIds:
    """The outermost middleware: gives every request an id, and logs a line for it on INFO.

    The line names no query and no body, and of the path only what `kit/logs.py` leaves of it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        called = given if _ACCEPTABLE.fullmatch(given) else uuid.uuid4().hex
        # Not taken back at the end: Django logs refusals when all middlewares are through.
        _current.set(called)
        started = time.perf_counter()
        response = self.get_response(request)
        response[HEADER] = called
        if logger.isEnabledFor(logging.INFO):
            duration_ms = round((time.perf_counter() - started) * 1000, 1)
            seen = {"status": response.status_code, "duration_ms": duration_ms}
            logger.info("%s %s", request.method, request.path, extra=seen)
        return response
