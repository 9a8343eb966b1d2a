"""The categories of expenses, and what a trip may spend on each."""

import json
from collections.abc import Mapping
from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy

from tripcompanion.currency.amounts import minor_units, to_major
from trips.models.journal import as_text


class Category(models.TextChoices):
    """What the money was spent on."""

    ACCOMMODATION = "ACCOMMODATION", gettext_lazy("accommodation")
    FOOD = "FOOD", gettext_lazy("food")
    TRANSPORT = "TRANSPORT", gettext_lazy("transport")
    ACTIVITIES = "ACTIVITIES", gettext_lazy("activities")
    OTHER = "OTHER", gettext_lazy("other")


def load_budgets(stored: str | None) -> dict[str, Decimal] | None:
    """Stored budgets by category, in major units, as the API shows them."""
    return None if stored is None else json.loads(stored, parse_float=Decimal, parse_int=Decimal)


def budgets_text(budgets: Mapping[str, Decimal] | None, currency: str) -> str | None:
    """Entered budgets as they are stored, in the decimals of `currency`; None if there are none.

    Raises `ValidationError` if one rounds to zero.
    """
    if not budgets:
        return None
    minor = {
        category: minor_units(f"categoryBudgets.{category}", amount, currency)
        for category, amount in budgets.items()
    }
    return as_text({category: to_major(amount, currency) for category, amount in minor.items()})
