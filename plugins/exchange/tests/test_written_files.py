"""What a writer of each format writes of a random group has the balances of that group.

They are computed here from the bills of the group, by the rule of the exporter. Where a file does
not determine them, the plan names the row.
"""

from collections import Counter
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.exchange.tests import csv_writers, json_writers
from plugins.exchange.tests.groups import NAMES, Bill, bills, groups, known_as, names_of_people
from plugins.exchange.tests.reading import claimed, planned_rows, read
from tripcompanion.currency.amounts import to_major

pytestmark = [pytest.mark.once, pytest.mark.soak]


def is_right(row, moved, keys, currency, within=1):
    """Whether the row moves what the bill does: exactly, or where that is no whole unit, nearly."""
    expected: Counter[Any] = Counter()
    for name, part in moved.items():
        expected[keys[name], currency] += part
    differences = [abs(row.moved[key] - expected[key]) for key in {*row.moved, *expected}]
    return not row.is_skipped and not row.moved.total() and max(differences, default=0) < within


def names(group):
    return {name: known_as(name) for name in group.people}


def rows_of(trip, group_bills):
    """The bills with what the plan has of them."""
    return zip(group_bills, planned_rows(trip), strict=True)


# -- Splitwise, CSV -------------------------------------------------------------------------------


@given(
    groups(
        currencies=("EUR", "JPY", "KWD"), payers=3, kinds=("expense", "payment"), steps={"KWD": 10}
    )
)
def test_every_balance_of_the_table_of_splitwise_is_right(group):
    trip = read(csv_writers.splitwise(group))
    assert trip.format == "splitwise_csv"
    sums: Counter[Any] = Counter()
    for bill, row in rows_of(trip, group.bills):
        moved = bill.moved(bill.cents)
        if any(moved.values()):
            assert is_right(row, moved, names(group), bill.currency)
            sums.update(row.moved)
        else:
            # Who paid exactly their own part paid for something of which the file says nothing.
            assert row.codes == ["payer_unknown"]
    assert claimed(trip) == {key: minor for key, minor in sums.items() if minor}


# -- Settle Up ------------------------------------------------------------------------------------


@given(
    groups(
        payers=4,
        kinds=("expense", "payment"),
        names=names_of_people().filter(lambda name: ";" not in name),
    )
)
def test_everything_in_settle_up_is_exact(group):
    trip = read(csv_writers.settle_up(group))
    assert trip.format == "settle_up"
    for bill, row in rows_of(trip, group.bills):
        assert is_right(row, bill.moved(bill.cents), names(group), bill.currency)


# -- Splitwise, API -------------------------------------------------------------------------------


def paged(group, size):
    """The bills on pages; each but the first begins with an older state of a bill before."""
    pages: list[list[tuple[Bill, bool]]] = []
    for start in range(0, len(group.bills), size):
        stale = [(group.bills[start - 1], True)] if start else []
        pages.append(stale + [(bill, False) for bill in group.bills[start : start + size]])
    return pages


API_KINDS = ("expense", "payment", "deleted")


@given(
    groups(currencies=("EUR", "JPY", "KWD"), payers=4, kinds=API_KINDS, steps={"KWD": 10}),
    st.integers(1, 6),
)
def test_balances_of_the_api_of_splitwise_are_exact(group, size):
    pages = paged(group, size)
    trip = read(json_writers.splitwise_api(group, pages))
    assert trip.format == "splitwise_api"
    sums: Counter[Any] = Counter()
    for (bill, is_stale), row in rows_of(trip, [row for page in pages for row in page]):
        if is_stale or bill.kind == "deleted":
            assert row.codes == ["repeated" if is_stale else "deleted_in_source"]
        else:
            assert is_right(row, bill.moved(bill.cents), group.ids, bill.currency)
            sums.update(row.moved)
    assert claimed(trip) == {key: minor for key, minor in sums.items() if minor}


# -- Spliit, JSON ---------------------------------------------------------------------------------

OF_SPLIIT = groups(
    currencies=("EUR", "JPY", "HUF"),
    is_of_one_currency=True,
    kinds=("expense", "income", "payment"),
    steps={"HUF": 100},
    has_originals=True,
)


def shown_by_spliit(bill, ids, key):
    """The parts: rounded down, and one more unit for the largest remainders.

    Of equal ones, a hash of the bill's id says whose turn it is.
    """
    hashed = 0x811C9DC5
    for byte in key.encode():
        hashed = (hashed ^ byte) * 0x01000193 % 2**32
    people = sorted(bill.weights, key=ids.__getitem__)
    size = len(people)
    turns = {name: (at - hashed * bool(key)) % size for at, name in enumerate(people)}
    units = {name: abs(part) / bill.step for name, part in bill.exact.items()}
    parts = {name: int(part) for name, part in units.items()}
    left = abs(bill.amount) // bill.step - sum(parts.values())
    for name in sorted(people, key=lambda n: (parts[n] - units[n], turns[n]))[:left]:
        parts[name] += 1
    sign = -bill.step if bill.amount < 0 else bill.step
    return {name: sign * part for name, part in parts.items()}


@given(OF_SPLIIT, st.booleans())
def test_parts_of_spliit_are_those_it_shows(group, has_ids):
    trip = read(json_writers.spliit(group, has_ids))
    assert trip.format == "spliit_json"
    for at, (bill, row) in enumerate(rows_of(trip, group.bills)):
        assert "shares_do_not_add_up" not in row.codes
        parts = shown_by_spliit(bill, group.ids, f"e{at}" if has_ids else "")
        assert is_right(row, bill.moved(parts), group.ids, bill.currency)


# -- Spliit, CSV ----------------------------------------------------------------------------------


@given(OF_SPLIIT, st.booleans())
def test_cells_of_spliit_are_exact_where_they_say_who_paid(group, is_old):
    trip = read(csv_writers.spliit(group, is_old, group.currency))
    assert trip.format == "spliit_csv"
    for bill, row in rows_of(trip, group.bills):
        cells = csv_writers.cells_of_spliit(bill, is_old)
        is_known = cells.get(bill.payer) or (len(group.people) == 2 and any(cells.values()))
        drift = bill.amount - sum(cells.values())
        if not is_known:
            assert row.codes == ["payer_unknown"]
        elif row.is_skipped:
            # What is lacking is more than the payer's part.
            assert row.codes == ["does_not_add_up"]
            assert abs(drift) > abs(cells.get(bill.payer, 0))
        else:
            assert ("rounded_shares" in row.codes) == bool(drift)
            to = bill.payer if cells.get(bill.payer) else max(cells, key=lambda n: abs(cells[n]))
            cells[to] += drift
            assert is_right(row, bill.moved(cells), names(group), bill.currency)


# -- ihatemoney -----------------------------------------------------------------------------------


def has_bills(group):
    """Whether no bill is one that only declares a member, as in old files of Cospend."""
    return all(b.title != "deleteMeIfYouWant" or [b.payer] != [*b.weights] for b in group.bills)


IHATEMONEY = groups(
    kinds=("expense", "income", "payment"),
    modes=("EVENLY",),
    names=names_of_people().filter(lambda name: not known_as(name).startswith("'")),
).filter(has_bills)


@given(IHATEMONEY, st.sampled_from([6, 7]), st.booleans(), st.sampled_from(["json", "csv"]))
def test_weights_of_ihatemoney_divide_if_they_are_known(group, version, has_currency, kind):
    group = replace(group, bills=tuple(weighted(bill, group) for bill in group.bills))
    if not has_currency:
        euros = tuple(replace(bill, currency="EUR") for bill in group.bills)
        group = replace(group, bills=euros)
    writer = csv_writers.ihatemoney if kind == "csv" else json_writers.ihatemoney
    content = writer(group, version, "EUR" if has_currency else None)
    trip = read(content, currency="EUR")
    assert trip.format == "ihatemoney"
    payers = {bill.payer for bill in group.bills}
    for bill, row in rows_of(trip, group.bills):
        strangers = bill.weights.keys() - payers
        if strangers and (len(bill.weights) > 1 or (kind == "csv" and "," in [*strangers][0])):
            # A name of commas alone names nobody.
            refused = {"weight_unknown", "names_with_commas", "nobody_takes_part"}
            assert refused & {*row.codes}
        elif kind == "csv" and any("," in name for name in bill.weights):
            assert "names_with_commas" in row.codes
        else:
            assert is_right(row, bill.moved(bill.exact), names(group), bill.currency)


def weighted(bill, group):
    return replace(bill, weights={name: int(group.weights[name] * 10**6) for name in bill.weights})


# -- Cospend --------------------------------------------------------------------------------------


@given(
    groups(
        is_of_one_currency=True,
        modes=("EVENLY",),
        names=names_of_people().filter(lambda name: '""' not in name),
    ).filter(has_bills),
    st.sampled_from([1, 3, 7]),
    st.booleans(),
)
def test_weights_of_cospend_divide(group, part, has_currencies):
    texts = [csv_writers.php(to_major(bill.amount, bill.currency) / part) for bill in group.bills]
    unit = to_major(1, group.currency)
    minor = [int((Decimal(text) / unit).quantize(1, ROUND_HALF_UP)) for text in texts]
    trip = read(csv_writers.cospend(group, texts, has_currencies), currency=group.currency)
    assert trip.format == "cospend"
    for at, (found, row) in enumerate(rows_of(trip, group.bills)):
        bill = weighted(replace(found, paid={found.payer: minor[at]}), group)
        if bill.kind == "deleted":
            assert row.codes == ["deleted_in_source"]
        elif not minor[at]:
            assert row.codes == ["no_amount"]
        elif any("," in name for name in bill.weights):
            assert "names_with_commas" in row.codes
        else:
            assert ("rounded" in row.codes) == (minor[at] * unit != Decimal(texts[at]))
            assert is_right(row, bill.moved(bill.exact), names(group), bill.currency)


# -- Abrechnung -----------------------------------------------------------------------------------

Items = tuple[int, dict[str, int], int]


@st.composite
def abrechnungen(draw, currencies=("EUR", "CHF")):
    """A group, its events, and the items of each bill."""
    group = draw(groups(currencies=currencies))
    events: dict[str, dict[str, int]] = {}
    for at in range(draw(st.integers(0, 3))):
        accounts = st.sampled_from([*group.people, *events])
        events[f"event {at}"] = draw(
            st.dictionaries(accounts, st.integers(1, 9), min_size=1, max_size=4)
        )
    some, items = [], []
    for _turn in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["expense", "income", "payment"]))
        modes = ("EVENLY", "SHARES", "PERCENT") + (("AMOUNT",) if kind == "expense" else ())
        bill = draw(
            bills(
                group.people,
                sharers=[*group.people, *events],
                currencies=currencies,
                payers=3,
                kinds=[kind],
                modes=modes,
            )
        )
        rows: list[Items] = []
        if kind == "expense" and bill.mode == "EVENLY":
            usages = st.dictionaries(
                st.sampled_from([*group.people, *events]), st.integers(1, 4), max_size=3
            )
            one = st.tuples(st.integers(1, 1000), usages, st.integers(0, 3))
            rows = draw(st.lists(one.filter(lambda item: item[1] or item[2]), max_size=3))
        some.append(bill)
        items.append(rows)
    return replace(group, bills=tuple(some)), events, items


def of_people(shares, events):
    """The shares of people, after events have passed on theirs."""
    found: Counter[str] = Counter()
    for name, share in shares.items():
        weights = events.get(name)
        if weights is None:
            found[name] += share
        else:
            passed = {n: share * Fraction(w, sum(weights.values())) for n, w in weights.items()}
            found.update(of_people(passed, events))
    return found


def with_items(bill, items):
    """The parts, where the price of items is shared by use, and what is common by weight."""
    parts: Counter[str] = Counter()
    common = Fraction(bill.amount)
    for price, usages, common_use in items:
        whole = sum(usages.values()) + common_use
        for name, use in usages.items():
            parts[name] += Fraction(price * use, whole)
            common -= Fraction(price * use, whole)
    for name, part in bill.exact.items():
        parts[name] += common * part / bill.amount
    return dict(parts)


@given(abrechnungen())
def test_accounts_of_abrechnung_have_the_parts_of_people(found):
    group, events, items = found
    trip = read(json_writers.abrechnung(group, events, items))
    assert trip.format == "abrechnung"
    for (bill, bill_items), row in rows_of(trip, zip(group.bills, items, strict=True)):
        parts = of_people(with_items(bill, bill_items), events)
        if min(parts.values()) < 0 < bill.amount:
            assert row.codes == ["negative_part"]
            continue
        if row.codes == ["to_oneself"]:
            assert max(map(abs, bill.moved(parts).values())) < 1
            continue
        costs = sum(price for price, _usages, _common in bill_items)
        exceeds = bool(bill_items) and costs > bill.amount
        assert ("items_exceed" in row.codes) == exceeds
        assert is_right(row, bill.moved(parts), group.ids, bill.currency)


# -- SplitPro -------------------------------------------------------------------------------------

#: Quotes around a name with a comma are all that tells it from the next cell.
FRIENDS = names_of_people().filter(
    lambda name: (
        not name.startswith('"')
        and not {'"', ","} <= {*name}
        and known_as(name) not in {"You", "A", "B"}
    )
)


def between_two(friend, currencies=("EUR", "JPY", "KWD")):
    """Bills that one of two paid, and in which the other and perhaps others take part."""
    kinds = ("expense", "payment")
    some = bills(
        ("You", friend), sharers=["You", friend, "A", "B"], currencies=currencies, kinds=kinds
    )
    return some.filter(
        lambda bill: any(bill.cents.get(name) for name in {"You", friend} - {*bill.paid})
    )


@given(FRIENDS.map(known_as), st.sampled_from(".,"), st.data())
def test_the_two_of_a_file_of_splitpro_are_exact(friend, mark, data):
    rows = data.draw(st.lists(between_two(friend), min_size=1, max_size=6))
    trip = read(csv_writers.splitpro(rows, friend, mark), f"{friend}.csv")
    assert trip.format == "splitpro_csv"
    for bill, row in rows_of(trip, rows):
        other = friend if bill.payer == "You" else "You"
        share = bill.cents[other]
        expected = {bill.payer: share, other: -share}
        assert is_right(row, expected, {name: name for name in expected}, bill.currency)
        is_half = abs(bill.amount - 2 * share) <= 1
        is_noted = bill.mode == "EVENLY" and bill.kind == "expense" and not is_half
        assert ("more_people" in row.codes) == is_noted


@st.composite
def debts(draw, people, pairs=None, currencies=("EUR", "JPY")):
    pairs = pairs or [(a, b) for at, a in enumerate(people) for b in people[at + 1 :]]
    keys = st.tuples(st.sampled_from(pairs), st.sampled_from(currencies))
    owed = draw(st.dictionaries(keys, st.integers(-(10**8), 10**8), min_size=1, max_size=6))
    return {(*pair, currency): minor for (pair, currency), minor in owed.items()}


@given(st.data())
def test_debts_of_splitpro_are_exact_in_each_group_and_outside(data):
    people = NAMES[: data.draw(st.integers(2, 5))]
    with_first = [(people[0], name) for name in people[1:]]
    within = data.draw(st.lists(debts(people), min_size=1, max_size=3))
    outside = data.draw(debts(people, with_first))
    content = json_writers.splitpro(people, within, outside)
    keys = {name: str(at) for at, name in enumerate(people, start=1)}
    for group, owed in [*enumerate(within, start=1), (0, outside)]:
        trip = read(content, group=str(group))
        assert trip.format == "splitpro_json"
        expected: Counter[Any] = Counter()
        for (user, friend, currency), minor in owed.items():
            expected[keys[user], currency] += minor
            expected[keys[friend], currency] -= minor
        sums: Counter[Any] = Counter()
        for row in planned_rows(trip):
            assert not row.is_skipped
            sums.update(row.moved)
        assert {k: v for k, v in sums.items() if v} == {k: v for k, v in expected.items() if v}


# -- Tricount -------------------------------------------------------------------------------------


@given(groups(is_of_one_currency=True, has_originals=True), st.booleans())
def test_entries_of_tricount_are_exact(group, is_local_foreign):
    trip = read(json_writers.tricount(group, is_local_foreign))
    assert trip.format == "tricount"
    keys = {name: f"m{pk}" for name, pk in group.ids.items()}
    for bill, row in rows_of(trip, group.bills):
        if bill.kind == "deleted":
            assert row.codes == ["deleted_in_source"]
        else:
            assert is_right(row, bill.moved(bill.cents), keys, bill.currency)
            assert ("original_amount" in row.codes) == bool(bill.original)
