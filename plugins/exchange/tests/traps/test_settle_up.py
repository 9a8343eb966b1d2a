"""CSV of Settle Up: what a file leaves open or gets wrong, and what it is read as."""

from decimal import Decimal

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import balances, entries, noted, read, skipped

pytestmark = pytest.mark.once

SETTLE_UP = samples.SETTLE_UP.splitlines()[0]


def settle_up(*rows, header=SETTLE_UP):
    return read("\n".join([header, *rows, ""]))


OWN = "Ben,10,EUR,Ana;Ben,5;5,Bus,,2026-05-02 09:00:00,Europe/Berlin,1,10,expense,"


@pytest.mark.parametrize("kind", ["expense", "transfer"])
def test_an_amount_of_settle_up_keeps_its_currency_and_rate(kind):
    foreign = f"Ana,250,CZK,Ben,250,Hut,,2026-05-02 09:00:00,Europe/Berlin,24.4,10.25,{kind},"
    trip = settle_up(OWN, foreign)
    assert trip.currency == "EUR"
    own, entry = entries(trip)
    assert (own.rate, entry.amount_minor, entry.currency) == (None, 25_000, "CZK")
    assert entry.rate * 250 == Decimal("10.25")


def test_columns_of_settle_up_are_read_by_their_names():
    names, cells = SETTLE_UP.split(","), OWN.split(",")
    for order in (range(len(names) - 1, -1, -1), [at for at in range(len(names)) if at != 8]):
        header, row = (",".join(values[at] for at in order) for values in (names, cells))
        trip = settle_up(row, header=header)
        assert balances(trip) == {("Ben", "EUR"): 500, ("Ana", "EUR"): -500}


def test_rows_of_settle_up_have_links_emoji_and_several_payers():
    link = "https://example.com/r.jpg"
    row = f"A;B,6;4,EUR,A;B;C,3.33;3.33;3.33,,🍕,2026-05-01 18:00:00,Europe/Berlin,1,10,{{}},{link}"
    trip = settle_up(row.format("expense"), row.format("transfer"))
    assert noted(trip) == {2: ["rounded_shares"], 3: ["rounded_shares", "payment_of_several"]}
    first = entries(trip)[0]
    assert (first.fields["receipt_url"], first.fields["category"], first.title) == (
        link,
        "FOOD",
        "🍕",
    )
    assert first.payers == (("A", 600), ("B", 400))
    assert skipped(settle_up(OWN.replace("Ana;Ben", "Ana;Ana"))) == {2: "named_twice"}
    assert skipped(settle_up(OWN.replace("5;5", "10"))) == {2: "unequal_lists"}
    assert skipped(settle_up(OWN.replace("expense", "income"))) == {2: "unknown_kind"}
