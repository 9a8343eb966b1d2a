"""What all formats share: what a file leaves open or gets wrong, and what it is read as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.exchange.description import UnreadableFile
from plugins.exchange.formats.numbers import Numbers
from plugins.exchange.tests import samples
from plugins.exchange.tests.reading import balances, changed, claimed, codes, read, refused, skipped

pytestmark = pytest.mark.once

SPLITWISE = "Date,Description,Category,Cost,Currency"


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_the_balances_follow_from_the_file(name):
    content, expected = samples.SAMPLES[name]
    trip = read(content)
    assert trip.format == name
    assert not skipped(trip)
    if expected is not None:
        assert balances(trip) == expected
    if trip.claimed:
        assert claimed(trip) == balances(trip)


@pytest.mark.parametrize(
    ("sample", "path", "name"),
    [
        (samples.ABRECHNUNG, ("transactions", 0), "type"),
        (samples.IHATEMONEY_JSON, (0,), "bill_type"),
        (
            samples.TRICOUNT,
            ("Response", 0, "Registry", "all_registry_entry", 0, "RegistryEntry"),
            "type_transaction",
        ),
    ],
    ids=["abrechnung", "ihatemoney", "tricount"],
)
def test_a_row_of_an_unknown_type_is_skipped(sample, path, name):
    content = changed(sample, *path, **{name: "gift"})
    assert skipped(read(content, currency="EUR"))[1] == "unknown_kind"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("cost", "part"),
    [
        ("10.00", "5.00"),
        ("10.00", "'5.00"),
        ("10.00", "+5.00"),
        ("1\u00a0000,00", "5,00"),
        ("1\u202f000,00", "5,00"),
        ("1.000,00", "5,00"),
        ("1,000.00", "5.00"),
    ],
)
def test_numbers_and_delimiters_are_as_the_file_was_saved(delimiter, cost, part):
    cells = ["2026-05-01", "Bus", "Bus", cost, "EUR", part, f"\u2212{part.strip(chr(39) + '+')}"]
    rows = [[*SPLITWISE.split(","), "Ana", "Ben"], [f'"{cell}"' for cell in cells]]
    trip = read("".join(delimiter.join(row) + "\n" for row in rows))
    assert balances(trip) == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500}


@pytest.mark.parametrize(
    ("cells", "code"),
    [("1.234;EUR;1.234", "unclear_decimal_mark"), ("1,50;EUR;1.5", "two_decimal_marks")],
)
def test_it_may_be_unclear_what_a_number_is(cells, code):
    header = SPLITWISE.replace(",", ";")
    with pytest.raises(UnreadableFile) as caught:
        read(f"{header};Ana;Ben\n2026-05-01;Bus;Bus;{cells};-{cells.split(';')[-1]}\n")
    assert (caught.value.code, caught.value.line) == (code, 2)


def test_a_minus_may_stand_behind():
    trip = read(f"{SPLITWISE},Ana,Ben\n2026-05-01,Bus,Bus,10.00,EUR,5.00,5.00-\n")
    assert balances(trip) == {("Ana", "EUR"): 500, ("Ben", "EUR"): -500}


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2), st.sampled_from(",."))
def test_numbers_are_read_in_every_way_of_writing(value, mark):
    thousands = "." if mark == "," else ","
    text = f"{value:,.2f}".replace(",", "#").replace(".", mark).replace("#", thousands)
    spaced = f"{value:,.2f}".replace(",", "\u202f").replace(".", mark).replace("-", "\u2212")
    numbers = Numbers([(1, text), (2, spaced)])
    assert numbers(text) == numbers(spaced) == value


def test_a_name_like_that_of_a_second_person_is_a_third():
    trip = read(
        f"{SPLITWISE},Ana,Ana,Ana (2)\n2026-05-01,Bus,Bus,9.00,EUR,6.00,-3.00,-3.00\n"
        "2026-05-02,Total balance, , ,EUR,6.00,-3.00,-3.00\n"
    )
    assert len({person.key for person in trip.people}) == 3
    assert codes(trip) == ["same_names"]
    assert claimed(trip) == balances(trip)


@pytest.mark.parametrize("content", ["[]", "{}", " [\n]"])
def test_json_without_anything_is_an_empty_file(content):
    assert refused(content) == "empty_file"


@pytest.mark.parametrize(
    "content",
    [
        # Abrechnung's CSV does not quote anything, so its columns shift.
        "ID,Date,Payer,Name,Description,Currency Identifier,Currency Symbol,"
        "Currency Conversion Rate,Tags,Value,Ana,Ben\n"
        "1,2026-05-01,Ana,Shop,,EUR,€,1,,22.00,11.00,-11.00\n",
        # Tricount's, of which only some languages are known.
        "Titre,Montant,Payé par,Catégorie,Date & heure,Impacté à Ana,Impacté à Ben\n"
        "Hut,36.00,Ana,,01/05/2026 18:00,-7.00,-29.00\n",
    ],
    ids=["abrechnung", "tricount"],
)
def test_tables_that_nobody_can_rely_on_are_refused(content):
    assert refused(content) == "unknown_format"
