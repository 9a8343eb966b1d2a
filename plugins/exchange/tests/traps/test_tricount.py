"""JSON of Tricount: what a file leaves open or gets wrong, and what it is read as."""

import json
from functools import reduce
from operator import getitem

import pytest

from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import balances, changed, check, entries, read

pytestmark = pytest.mark.once

ENTRY = ("Response", 0, "Registry", "all_registry_entry", 0, "RegistryEntry")


def test_an_income_and_a_reimbursement_of_tricount():
    income = samples.TRICOUNT.replace('"NORMAL"', '"INCOME"')
    check(income, kinds=["MANUAL"], owed={"m1": -2900, "m2": 2900})
    [_own, part] = json.loads(income)["Response"][0]["Registry"]["all_registry_entry"][0][
        "RegistryEntry"
    ]["allocations"]
    fields = {"type_transaction": "BALANCE", "allocations": [part], "amount": part["amount"]}
    content = changed(samples.TRICOUNT, *ENTRY, **fields)
    check(content, kinds=["payment"], owed={"m1": 2900, "m2": -2900})
    check(content.replace('"BALANCE"', '"NORMAL"'), kinds=["EQUAL"], owed={"m1": 2900, "m2": -2900})


def test_members_of_tricount_who_left_stay_and_may_share_a_name():
    content = json.loads(samples.TRICOUNT.replace('"Ben"', '"Ana"'))
    registry = content["Response"][0]["Registry"]
    registry["memberships"][1]["RegistryMembershipNonUser"]["status"] = "DELETED"
    for found in (content, {"Registry": registry}, registry):
        trip = read(json.dumps(found))
        assert [person.key for person in trip.people] == ["m1", "m2"]
        assert balances(trip) == {("m1", "EUR"): 2900, ("m2", "EUR"): -2900}


def test_entries_of_tricount_have_categories_of_their_own():
    content = changed(
        samples.TRICOUNT, *ENTRY, category="OTHER", category_custom="Bar", description=""
    )
    (entry,) = entries(read(content))
    assert (entry.title, entry.fields["category"]) == ("Bar", "FOOD")


def test_a_deleted_entry_of_tricount_is_skipped():
    content = changed(samples.TRICOUNT, *ENTRY, status="DELETED")
    check(content, skipped={1: "deleted_in_source"}, owed={})


@pytest.mark.parametrize(("own", "other"), [("amount", "amount_local"), ("amount_local", "amount")])
@pytest.mark.parametrize(("kind", "sign"), [("NORMAL", 1), ("INCOME", -1)])
def test_of_two_amounts_of_tricount_the_one_in_its_currency_counts(own, other, kind, sign):
    entry = reduce(getitem, ENTRY, json.loads(samples.TRICOUNT))
    for row in (entry, *entry["allocations"]):
        row |= {own: row["amount"], other: {"currency": "CHF", "value": "-1.00"}}
    content = changed(samples.TRICOUNT, *ENTRY, **entry | {"type_transaction": kind})
    (found,) = entries(read(content))
    assert (found.currency, found.payers) == ("CHF", (("m1", sign * 100),))
    assert found.converted_minor == sign * 3600
    assert dict(found.parts) == {"m1": sign * 700, "m2": sign * 2900}
