"""Exchange rates as the European Central Bank publishes them: units per euro."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import Any, ClassVar, NamedTuple

from django.db import models
from django.db.models import Q, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from tripcompanion.api.problems import Conflict
from tripcompanion.currency.amounts import MAX_AMOUNT, convert, to_major, to_minor

BASE = "EUR"
#: The source of a rate: the ECB's file, or the person who entered the amount.
ECB, ENTERED = "ECB", "ENTERED"
#: The precision that both databases store exactly. SQLite stores decimals as floats, with 15
#: significant digits; the PostgreSQL column rounds to 15 decimals.
_SIGNIFICANT = Context(prec=15)
_LAST_DECIMAL = Decimal(1).scaleb(-15)
#: The dollar is in every file since 1999, so its last day shows how far the stored rates reach.
_ALWAYS_PUBLISHED = "USD"
#: How much earlier the last rate of a currency may be. Easter takes five days.
_MAX_GAP = timedelta(days=14)


class NoRate(Conflict):
    """409 `no_rate`: the amounts cannot be converted."""

    default_code = "no_rate"
    default_detail = gettext_lazy(
        "There is no rate from %(source)s to %(target)s. Please send exchangeRate."
    )
    example_values: ClassVar = {"source": "JPY", "target": "EUR"}


class NoLatestRate(NoRate):
    """409 `no_rate`: the amounts cannot be converted."""

    default_detail = gettext_lazy("There is no rate from %(source)s to %(target)s.")


class ExchangeRate(NamedTuple):
    """What one unit of a currency is worth in another, with the source and the day."""

    rate: Decimal
    source: str
    day: date

    @property
    def origin(self) -> str:
        """The source as responses name it."""
        return "ecb" if self.source == ECB else "given"

    @classmethod
    def fixed(cls, source: str, target: str, day: date, given: Decimal | None) -> "ExchangeRate":
        """The rate that an amount of `day` keeps: the given one, else that of `day`.

        Only between two currencies. Raises `NoRate`.
        """
        if given is not None:
            return cls(given, ENTERED, timezone.now().date())
        return DailyRate.objects.of_day(day, source, target)

    @classmethod
    def fields(cls, rate: Decimal | None, source: str, day: date | None) -> dict[str, Any]:
        """The journal fields of these columns."""
        shown = None if rate is None else rate.normalize()
        return {"exchangeRate": shown, "exchangeRateSource": source, "exchangeRateDate": day}


def in_trip_currency(entered_minor: int, currency: str, trip_currency: str, rate: Decimal) -> int:
    """An entered amount of another currency in minor units of the trip's.

    Raises `ValidationError` on `amount` if it converts to too little or too much.
    """
    amount_minor = convert(entered_minor, currency, trip_currency, rate)
    if not 0 < abs(amount_minor) <= to_minor(MAX_AMOUNT, trip_currency):
        text = _("This is %(amount)s %(currency)s, which is too small or too large.")
        values = {"amount": to_major(amount_minor, trip_currency), "currency": trip_currency}
        raise ValidationError({"amount": [text % values]})
    return amount_minor


class RateQuerySet(models.QuerySet["Rate"]):
    def latest_to(self, target: str, sources: Iterable[str]) -> dict[str, ExchangeRate]:
        """The latest stored rates to `target` by source, through the euro if necessary.

        One query for all of them. Raises `NoLatestRate` for the first source without a rate.
        """
        sources = [source for source in sources if source != target]
        rows = {row.currency: row for row in self.filter(currency__in={*sources, target})}
        return {source: _through_euro(rows, source, target, NoLatestRate) for source in sources}


class DailyRateQuerySet(models.QuerySet["DailyRate"]):
    def of_day(self, day: date, source: str, target: str) -> ExchangeRate:
        """The rate from `source` to `target` that was published last, on `day` or before.

        One query. Raises `NoRate` before the first stored day, and for a currency whose rates ended
        more than `_MAX_GAP` before the newest day.
        """
        codes = {_ALWAYS_PUBLISHED, source, target} - {BASE}
        before = self.filter(day__lte=day).order_by("-day")
        newest = [Subquery(before.filter(currency=code).values("pk")[:1]) for code in codes]
        rows = list(self.filter(pk__in=newest))
        last_day = max((row.day for row in rows), default=day)
        known = {row.currency: row for row in rows if last_day - row.day <= _MAX_GAP}
        return _through_euro(known, source, target)


def _through_euro(
    rows: "Mapping[str, Rate | DailyRate]", source: str, target: str, missing: type[NoRate] = NoRate
) -> ExchangeRate:
    codes = {target, source} - {BASE}
    if not codes <= rows.keys():
        raise missing(source=source, target=target)
    per_euro = {BASE: Decimal(1)} | {code: rows[code].per_euro for code in codes}
    # An amount is converted before it is stored, and the audit converts with the stored rate. If
    # the database rounded the rate again, the amounts would differ.
    rate = _SIGNIFICANT.divide(per_euro[target], per_euro[source]).quantize(_LAST_DECIMAL)
    return ExchangeRate(rate, ECB, min(rows[code].day for code in codes))


class Rate(models.Model):
    """The latest known rate of one currency, in units per euro."""

    currency = models.CharField(gettext_lazy("currency"), max_length=3, unique=True)
    per_euro = models.DecimalField(gettext_lazy("units per euro"), max_digits=15, decimal_places=6)
    day = models.DateField(gettext_lazy("day"))

    objects = RateQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("exchange rate")
        verbose_name_plural = gettext_lazy("exchange rates")
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(per_euro__gt=0), name="rate_positive")
        ]

    def __str__(self) -> str:
        return f"1 {BASE} = {self.per_euro} {self.currency} ({self.day})"


class DailyRate(models.Model):
    """What the bank published for one currency on one day, in units per euro."""

    currency = models.CharField(gettext_lazy("currency"), max_length=3)
    per_euro = models.DecimalField(gettext_lazy("units per euro"), max_digits=15, decimal_places=6)
    day = models.DateField(gettext_lazy("day"))

    objects = DailyRateQuerySet.as_manager()

    class Meta:
        verbose_name = gettext_lazy("exchange rate of a day")
        verbose_name_plural = gettext_lazy("exchange rates by day")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["currency", "day"], name="dailyrate_of_day"),
            models.CheckConstraint(condition=Q(per_euro__gt=0), name="dailyrate_positive"),
        ]

    def __str__(self) -> str:
        return f"1 {BASE} = {self.per_euro} {self.currency} ({self.day})"
