"""`manage.py load_rates` stores the central bank's rates of every day, and the latest ones."""

from datetime import date
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from splits.models import DailyRate, Rate
from splits.models.rate import BASE
from tests.factories import spend
from tests.splits.test_audit import audit
from tests.splits.test_rates import assert_stored_as_used

HISTORY = """Date,USD,JPY,CYP,
2026-05-02,1.25,N/A,N/A,
2026-05-01,1.2,160.5,N/A,
2007-12-31,1.4,165,0.5853,
"""


def load(*arguments):
    out = StringIO()
    call_command("load_rates", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "eurofxref-hist.csv"
    path.write_text(HISTORY)
    return str(path)


@pytest.mark.django_db
def test_the_shipped_copy_is_loaded_offline():
    assert "rates of" in load("--since", "2026-01-01")
    dollar = Rate.objects.get(currency="USD")
    assert Decimal("0.5") < dollar.per_euro < Decimal(2)
    assert Rate.objects.count() > 20


def days_of(currency):
    rows = DailyRate.objects.filter(currency=currency).order_by("day")
    return [(row.day.isoformat(), row.per_euro) for row in rows]


@pytest.mark.django_db
def test_every_day_is_kept_and_the_newest_is_the_latest(history):
    assert load(history).endswith("3 days added.\n")
    assert days_of("USD") == [
        ("2007-12-31", Decimal("1.4")),
        ("2026-05-01", Decimal("1.2")),
        ("2026-05-02", Decimal("1.25")),
    ]
    assert [day for day, _rate in days_of("JPY")] == ["2007-12-31", "2026-05-01"]
    assert list(Rate.objects.values_list("currency", "per_euro", "day")) == [
        ("USD", Decimal("1.25"), date(2026, 5, 2))
    ]


@pytest.mark.django_db
def test_loading_twice_changes_nothing_and_an_older_file_overwrites_nothing(history):
    Rate.objects.create(currency="USD", per_euro=Decimal(9), day=date(2026, 5, 3))
    assert load(history).startswith("0 of 1")
    assert Rate.objects.get().per_euro == 9


@pytest.mark.django_db
def test_a_day_that_is_stored_stays_as_it_is_and_only_missing_ones_are_added(
    history, django_assert_num_queries
):
    DailyRate.objects.create(currency="USD", per_euro=9, day=date(2026, 5, 1))
    load(history)
    assert days_of("USD")[1] == ("2026-05-01", 9)
    before = list(DailyRate.objects.order_by("pk").values())
    # The stored days; the latest rates, read and written.
    with django_assert_num_queries(3):
        assert load(history).endswith("0 days added.\n")
    assert list(DailyRate.objects.order_by("pk").values()) == before


@pytest.mark.django_db
def test_days_before_a_certain_one_can_be_left_out(history):
    load(history, "--since", "2026-01-01")
    assert [day for day, _rate in days_of("USD")] == ["2026-05-01", "2026-05-02"]


def test_loading_again_changes_no_recorded_expense(history, ledger, olga, ed):
    DailyRate.objects.create(currency="USD", per_euro=2, day=date(2026, 4, 1))
    expense = ledger.spend(olga, 10, ed, currency="USD")
    load(history)
    assert ledger.expense(expense) == expense
    edited = ledger.change(expense, olga, amount=20)
    assert (edited["rate"], edited["tripAmount"]) == (expense["rate"], 10)
    assert ledger.spend(olga, 10, ed, currency="USD")["rate"]["date"] == "2026-05-02"
    assert audit() == ""


@pytest.mark.django_db
def test_a_newer_file_replaces_the_rate(history):
    Rate.objects.create(currency="USD", per_euro=Decimal(9), day=date(2026, 4, 1))
    load(history)
    assert Rate.objects.get().per_euro == Decimal("1.25")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("rates.csv", b""), ("rates.csv", b"nonsense"), ("rates.csv", b"\xff\xfe")),
        *(("rates.csv", b"Date,USD\nyesterday,1.2\n"), ("rates.csv", b"Date,\n")),
        *(("rates.csv", b"Date,USD\n2026-01-01,much\n"), ("rates.zip", b"Date,USD\n")),
    ],
)
def test_a_file_without_rates_is_one_clear_error(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CommandError, match=f"{name} is not a reference file of the European"):
        load(str(path))
    assert not Rate.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("/nothing/rates.csv", "No such file or directory"),
        ("http://127.0.0.1:1/rates.csv", "Connection refused"),
        ("http://127.0.0.1:port/", "nonnumeric port: 'port'"),
        ("https://", "no host given"),
        ("ftp://example.com/rates.csv", "No such file or directory"),
    ],
)
def test_an_address_that_cannot_be_read_is_one_clear_error(source, reason):
    with pytest.raises(CommandError) as refused:
        load(source)
    text = str(refused.value)
    assert text.startswith(f"{source} cannot be read: ")
    assert text.endswith(f"{reason}.")
    assert "\n" not in text


def test_the_rate_of_every_pair_of_currencies_is_stored_as_it_is_used(trip, olga):
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    load("--since", "2026-10-01")
    known = {BASE, *Rate.objects.values_list("currency", flat=True)}
    for target in known:
        for exchange in Rate.objects.latest_to(target, known).values():
            assert_stored_as_used(expense, exchange.rate)
