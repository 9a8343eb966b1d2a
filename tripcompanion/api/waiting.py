"""Requests whose clients wait for something, without a connection to the database.

A view that has nothing to tell yet says so in its response, and leaves a `Waiter` in the request's
`META`. The server (`serving/waiting.py`) then keeps the client waiting, and runs the request again
when the waiter says so: it is authenticated again, and the view finds its waiter. Other servers
send the first response.
"""

import random
import time
from threading import Event

#: The key of a `Waiter` in `request.META`.
WAITER = "tripcompanion.waiter"

#: Set when this process is about to end.
draining = Event()


class Waiter:
    """A waiting client of an account; `is_stream` if its responses make a stream of events."""

    #: Whether to wait before the request is run again; the view sets it.
    is_waiting = False

    def __init__(self, account: int, seconds: float, *, is_stream: bool) -> None:
        self.account, self.is_stream = account, is_stream
        self.ends_at = time.monotonic() + seconds

    @property
    def has_time(self) -> bool:
        return time.monotonic() < self.ends_at and not draining.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait at most so many seconds; return whether to run the request again."""
        raise NotImplementedError


def hint() -> bytes:
    """Tells the client of a stream when to come back, in milliseconds: not all at the same time."""
    return b"retry: %d\n\n" % random.randint(500, 3000)  # noqa: S311 -- no secret
