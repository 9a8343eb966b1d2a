"""`manage.py load_rates` stores the central bank's newest day."""

from datetime import date
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from splits.models import Rate

HISTORY = """Date,USD,JPY,CYP,
2026-05-02,1.25,N/A,N/A,
2026-05-01,1.2,160.5,N/A,
2007-12-31,1.4,165,0.5853,
"""


def load(*arguments: str) -> str:
    out = StringIO()
    call_command("load_rates", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def history(tmp_path: Path) -> str:
    path = tmp_path / "eurofxref-hist.csv"
    path.write_text(HISTORY)
    return str(path)


@pytest.mark.django_db
def test_the_shipped_copy_is_loaded_offline() -> None:
    assert "rates of" in load()
    dollar = Rate.objects.get(currency="USD")
    assert Decimal("0.5") < dollar.per_euro < Decimal(2)
    assert Rate.objects.count() > 20


@pytest.mark.django_db
def test_only_the_newest_day_counts(history: str) -> None:
    load(history)
    assert list(Rate.objects.values_list("currency", "per_euro", "day")) == [
        ("USD", Decimal("1.25"), date(2026, 5, 2))
    ]


@pytest.mark.django_db
def test_loading_twice_changes_nothing_and_an_older_file_overwrites_nothing(history: str) -> None:
    Rate.objects.create(currency="USD", per_euro=Decimal(9), day=date(2026, 5, 3))
    assert load(history).startswith("0 of 1")
    assert Rate.objects.get().per_euro == 9


@pytest.mark.django_db
def test_a_newer_file_replaces_the_rate(history: str) -> None:
    Rate.objects.create(currency="USD", per_euro=Decimal(9), day=date(2026, 4, 1))
    load(history)
    assert Rate.objects.get().per_euro == Decimal("1.25")


@pytest.mark.django_db
@pytest.mark.parametrize("text", [None, "", "nonsense", "Date,USD\nyesterday,1.2\n", "Date,\n"])
def test_a_file_without_rates_is_one_clear_error(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "rates.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CommandError, match="No rates could be read from"):
        load(str(path))
    assert not Rate.objects.exists()
