"""An amount in any currency, converted to the trip's currency at a fixed rate."""

from decimal import Decimal
from typing import Any

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from splits.models.rate import ENTERED, Rate
from splits.models.settlement import today
from tripcompanion.currency.amounts import MAX_AMOUNT, convert, to_major, to_minor


class ConvertedAmount(models.Model):
    """The columns of a row of a trip that has such an amount."""

    trip: Any
    #: In the trip's currency; this is the amount that the ledger uses.
    amount_minor = models.BigIntegerField()
    #: The amount and currency as entered; the rate is fixed, and null in the trip's currency.
    entered_minor = models.BigIntegerField()
    currency = models.CharField(gettext_lazy("currency"), max_length=3)
    exchange_rate = models.DecimalField(
        gettext_lazy("exchange rate"), max_digits=24, decimal_places=15, null=True, blank=True
    )
    rate_source = models.CharField(
        gettext_lazy("source of the rate"), max_length=10, blank=True, default=""
    )
    rate_day = models.DateField(gettext_lazy("day of the rate"), null=True, blank=True)

    class Meta:
        abstract = True

    def fix_rate(self, given: Decimal | None) -> None:
        """Set the rate to the trip's currency: the given one, else the latest stored.

        Raises `NoRate`, and what `convert` raises.
        """
        if self.currency == self.trip.currency:
            self.exchange_rate, self.rate_source, self.rate_day = None, "", None
        elif given is not None:
            self.exchange_rate, self.rate_source = given, ENTERED
            self.rate_day = today()
        else:
            rates = Rate.objects.latest_to(self.trip.currency, [self.currency])
            self.exchange_rate, self.rate_source, self.rate_day = rates[self.currency]
        self.convert()

    def convert(self) -> None:
        """Set `amount_minor`.

        Raises `ValidationError` on `amount` if it converts to too little or too much.
        """
        self.amount_minor = self.entered_minor
        if self.exchange_rate is None:
            return
        self.amount_minor = convert(
            self.entered_minor, self.currency, self.trip.currency, self.exchange_rate
        )
        if not 0 < self.amount_minor <= to_minor(MAX_AMOUNT, self.trip.currency):
            text = _("This is %(amount)s %(currency)s, which is too small or too large.")
            amount = to_major(self.amount_minor, self.trip.currency)
            values = {"amount": amount, "currency": self.trip.currency}
            raise ValidationError({"amount": [text % values]})
