"""The money of the cast's trip: everything in the ledger adds up after every test."""

from collections.abc import Callable, Iterator

import pytest
from django.apps import apps
from django.db import connection

from splits.reports.audit import differences
from tests.cast import ON_BOTH, Api
from tests.factories import TripFactory, UserFactory, join, settle, spend
from tests.splits.ledger import Ledger
from tests.stored import filled
from trips.models import Member, Trip
from trips.models.member import KEPT_SUMS
from trips.roles import TripRole
from users.models import User


@pytest.fixture
def ledger(request: pytest.FixtureRequest, trip: Trip, api: Api, olga: User) -> Iterator[Ledger]:
    """The trip of Olga, Ed and Vera; whatever a test does, its balances add up to zero."""
    ledger = Ledger(trip, api, olga)
    yield ledger
    if is_empty():
        return
    assert ledger.imbalance() == 0
    # It takes half of the time, and a short run has the tests of this folder on SQLite as well.
    is_audited = connection.vendor == "sqlite" or not request.node.nodeid.startswith(ON_BOTH)
    if is_audited or not request.config.getoption("short"):
        assert list(differences()) == []


@pytest.fixture
def listed(ledger: Ledger, olga: User, ed: User, vera: User) -> list[str]:
    """Four expenses; their names are what the tests compare."""
    for name, amount, day, category, by, among in (
        ("Tram", 9, "2026-05-15", "TRANSPORT", olga, [olga, ed]),
        ("Hotel", 300, "2026-05-14", "ACCOMMODATION", olga, [olga, ed, vera]),
        ("Fado", 45.5, "2026-05-16", "ACTIVITIES", ed, [ed, vera]),
        ("Tarts", 9, "2026-05-15", "FOOD", ed, [olga]),
    ):
        ledger.spend(by, amount, *among, description=name, expenseDate=day, category=category)
    return ["Fado", "Tarts", "Tram", "Hotel"]


@pytest.fixture
def ledgers(trip: Trip, olga: User, ed: User, vera: User) -> Trip:
    """Ed paid, owes and is owed; he recorded one expense that is none of his; he settled."""
    spend(trip, 3000, paid_by=olga, among=[olga, ed, vera], description="Boat")
    spend(trip, 900, paid_by=ed, among=[ed, vera], description="Tarts")
    settle(trip, ed, olga, 400, note="In cash")
    settle(trip, vera, olga, 100)
    return trip


def is_empty() -> bool:
    """Whether nothing is recorded, and no member has a sum: an audit would read nothing."""
    tables = [model._meta.db_table for model in apps.get_app_config("splits").get_models()]
    sums = Member.objects.exclude(**dict.fromkeys(KEPT_SUMS, 0))
    return not filled(tables) and not sums.exists()


@pytest.fixture
def bert(trip: Trip) -> User:
    """One more editor, for when three people are too few."""
    bert = UserFactory(name="Bert Beside", email="bert@example.com")
    join(trip, bert, TripRole.EDITOR)
    return bert


@pytest.fixture
def ledger_in(api: Api, olga: User, ed: User, vera: User) -> Callable[[str], Ledger]:
    """`ledger_in("JPY")` is the money of another trip of the three, in another currency."""

    def ledger(currency: str) -> Ledger:
        trip = TripFactory(currency=currency)
        for user, role in zip((olga, ed, vera), TripRole, strict=True):
            join(trip, user, role)
        return Ledger(trip, api, olga)

    return ledger
