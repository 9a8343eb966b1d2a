"""Requests that are answered more than once, because their clients wait for something.

A view leaves a `Keeper` in the request's `META`. The server calls it with the first response, and
sends what it returns. To run the request again, it is authenticated again, and the view finds the
same keeper. Other servers send the first response.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from threading import Event
from typing import Any, NamedTuple

#: The key of the keeper in `request.META`.
KEEPER = "tripcompanion.keeper"

#: Set when this process is about to end.
draining = Event()


class Kept(NamedTuple):
    """A request that was answered once."""

    environ: dict[str, Any]
    #: The status and the headers of the last response.
    head: list[Any]
    #: Runs it again, with a connection to the database meanwhile; returns the response.
    run: Callable[[], Iterable[bytes]]
    #: Closed once the client has the whole response, or has been given up.
    until_sent: ExitStack
    #: Ends the connection if the client does not read a part of the response in time.
    sending: Callable[[], AbstractContextManager[None]]


#: Returns what to send. Raises `TooManyAtOnce` and `Unavailable`.
Keeper = Callable[[Kept, Iterable[bytes]], Iterable[bytes]]
