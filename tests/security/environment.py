"""Two trips with entries, users with and without access to them, and short request helpers."""

import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.management import call_command
from rest_framework.test import APIClient

from splits.models import Expense, Settlement
from tests.factories import TripFactory, UserFactory, join, settle, spend
from tests.trips.bodies import dinner
from tests.walked import all_of
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

#: An id that was never used.
NEVER = 10**15
#: Sent with every request, so that responses can be compared byte by byte.
SAME_ID = {"HTTP_X_REQUEST_ID": "security"}


class Environment:
    """Olga's trip: Olga paid `dinner` and `boat` for all. Sam's trip: Sam paid `hotel`.

    Olga is in Sam's trip too, as a viewer. Dora's account is deactivated.
    """

    def __init__(self, trip: Trip, cast: Mapping[str, User], api: Callable[..., APIClient]) -> None:
        self.cast = dict(cast)
        self.olga, self.ed, self.vera, self.sam, self.ada = (
            cast[name] for name in ("olga", "ed", "vera", "sam", "ada")
        )
        self.dora = UserFactory(name="Dora Deactivated", email="dora@example.com")
        self.trip, self.sams = trip, TripFactory(title="Sam's")
        join(trip, self.dora, TripRole.EDITOR)
        join(self.sams, self.sam, TripRole.OWNER)
        join(self.sams, self.olga, TripRole.VIEWER)
        among = [self.olga, self.ed, self.vera]
        self.dinner = spend(trip, 9000, paid_by=self.olga, among=among)
        self.boat = spend(trip, 6000, paid_by=self.olga, among=among)
        self.hotel = spend(self.sams, 4000, paid_by=self.sam, among=[self.sam, self.olga])
        self.eds = self.dinner.splits.get(participant=self.ed)
        self._clients = {user.pk: api(user) for user in [*cast.values(), self.dora]}
        self._clients[None] = api(None)
        self.dora.deactivate(by=None)
        self.url = f"/api/trips/{trip.pk}"
        self.dinner_url = f"{self.url}/expenses/{self.dinner.pk}"
        self.splits_url = f"/api/expenses/{self.dinner.pk}/splits"
        self.eds_url = f"{self.splits_url}/{self.eds.pk}"

    def client(self, user: User | None) -> APIClient:
        return self._clients[user and user.pk]

    def ask(
        self, user: User | None, method: str, url: str, body: Any = None, **headers: str
    ) -> Any:
        client = self.client(user)
        return getattr(client, method.lower())(url, body, **SAME_ID, **headers)

    def reads(self) -> list[str]:
        """All readable URLs of Olga's trip."""
        below = (
            *("", "/members", f"/members/{self.olga.pk}", "/expenses", "/settlements"),
            *("/balances", "/settle-up"),
            *(f"/{path}".format(self.ed.pk) for path in all_of("OF_PERSON")),
            *all_of("PLACES"),
        )
        return [
            *(self.url + part for part in below),
            self.dinner_url,
            self.splits_url,
            self.eds_url,
        ]

    def expense_body(self, **fields: Any) -> dict[str, Any]:
        return dinner(self.olga, self.ed, **fields)

    def settlement(self) -> Settlement:
        """A settlement of 5.00 from Ed to Olga."""
        return settle(self.trip, self.ed, self.olga, 500)


def add_up() -> None:
    """Assert that the ledger matches its entries, and that each trip with expenses has an OWNER."""
    call_command("audit_ledger", verbosity=0)
    owned = Trip.objects.filter(members__role=TripRole.OWNER, members__left_at=None)
    assert not Expense.objects.exclude(trip__in=owned).exists()


_connects: list[Any] = []
_watching = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    # To read an IP address, nobody is asked.
    is_asked = event == "socket.getaddrinfo" and not re.fullmatch(r"[0-9.]+", str(arguments[0]))
    if event == "socket.connect" or is_asked:
        _connects.append(arguments)


sys.addaudithook(_hook)


@contextmanager
def no_connections() -> Iterator[None]:
    """Assert that Python code opens no socket; PostgreSQL's driver, written in C, may."""
    global _watching
    _connects.clear()
    _watching = True
    try:
        with socket.socket() as probe:
            probe.settimeout(0.01)
            assert probe.connect_ex(("127.0.0.1", 9)) != 0
        assert _connects, "the audit hook is not active"
        _connects.clear()
        yield
    finally:
        _watching = False
    assert _connects == []
