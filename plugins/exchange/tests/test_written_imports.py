"""Importing what writers of formats write: the trip has the balances of the plan."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from plugins.exchange.tests import csv_writers, json_writers
from plugins.exchange.tests.groups import groups
from plugins.exchange.tests.reading import planned_rows, read
from plugins.exchange.tests.test_written_files import abrechnungen, paged
from tests.splits.ledger import exact
from tripcompanion.currency.amounts import to_major

pytestmark = [pytest.mark.either, pytest.mark.soak]

IN_EUROS = {"currencies": ("EUR",), "is_of_one_currency": True}
FILES: dict[str, Any] = {
    "splitwise_api": groups(payers=3, kinds=("expense", "payment", "deleted"), **IN_EUROS).map(
        lambda group: json_writers.splitwise_api(group, paged(group, 3))
    ),
    "spliit_csv": groups(has_originals=True, **IN_EUROS).map(
        lambda group: csv_writers.spliit(group, is_old=False, currency="EUR")
    ),
    "abrechnung": abrechnungen(currencies=("EUR",)).map(
        lambda found: json_writers.abrechnung(*found)
    ),
}


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(
    max_examples=4, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)
def test_a_trip_has_the_balances_of_its_plan(name, imported, api, olga, data):
    content = data.draw(FILES[name])
    done = imported(content, asNewTrip=True, currency="EUR")
    assert done["format"] == name
    sums: Counter[Any] = Counter()
    for row in planned_rows(read(content, currency="EUR")):
        sums.update(row.moved)
    planned = [Decimal(str(row["ours"].get("EUR", 0))) for row in done["balances"]]
    assert sorted(filter(None, planned)) == sorted(
        to_major(minor, currency) for (_key, currency), minor in sums.items() if minor
    )
    rows = exact(api(olga).get(f"/api/trips/{done['tripId']}/balances"))
    balances = {row["user"]["id"]: row["balance"] for row in rows}
    recorded = [balances.get(person["userId"], 0) for person in done["people"]]
    differences = [abs(a - b) for a, b in zip(recorded, planned, strict=True)]
    # Odd cents that the file does not have may fall to somebody else.
    odd = done["rowCount"] if name == "abrechnung" else 0
    assert max(differences) <= odd * Decimal("0.01")
