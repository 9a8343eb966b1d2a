"""The id of a request: in its response, in problem documents, and in every log line.

Log lines also have its route and, if a proxy or client sends a `traceparent`, the id of the trace.
"""

import re
from contextvars import ContextVar

HEADER = "X-Request-ID"
#: Version, trace id, span id and flags (W3C Trace Context). Ids of zeros are invalid.
_TRACE_PARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
)

current_request_id: ContextVar[str] = ContextVar("request_id", default="")
#: The name of a route that is none of the API's: static files, unknown paths.
OTHER = "other"
#: As in `urls.py`, such as `/api/trips/<id:trip_id>`, so that it contains no id and no token; or
#: `OTHER`. Empty until it is known.
current_route: ContextVar[str] = ContextVar("route", default="")
#: Empty without a trace.
current_trace_id: ContextVar[str] = ContextVar("trace_id", default="")


def request_id() -> str:
    """The id of this thread's current or last request."""
    return current_request_id.get()


def trace_id_of(trace_parent: str) -> str:
    """The trace id in a `traceparent` header; empty if the header is missing or invalid."""
    found = _TRACE_PARENT.fullmatch(trace_parent)
    return found[1] if found else ""
