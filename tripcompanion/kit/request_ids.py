"""The id of a request: in its response, in problem documents, and in every log line."""

from contextvars import ContextVar

HEADER = "X-Request-ID"

current_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of this thread's current or last request."""
    return current_request_id.get()
