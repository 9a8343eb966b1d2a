"""The id of a request: in its response, in problem documents, and in every log line.

Log lines also have its route and, if a proxy or client sends a `traceparent`, the id of the trace.
"""

from contextvars import ContextVar

HEADER = "X-Request-ID"
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
