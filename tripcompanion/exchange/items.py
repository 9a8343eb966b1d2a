"""The items of an expense in a file in our own format."""

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ValidationError

from splits.models.items import EXTRAS, Items
from splits.serializers.expense import ExpenseRequest, items_of
from tripcompanion.currency.amounts import EXPONENTS
from tripcompanion.exchange.description import UnreadableFile


def items_from(shown: Any, currency: str, people: Mapping[int, int], line: int) -> Items:
    """The items, with other ids of people. Raises `UnreadableFile`."""
    wrong, fields = UnreadableFile("bad_value", line, name="items"), ExpenseRequest().fields
    if not isinstance(shown, dict) or currency not in EXPONENTS:
        raise wrong
    try:
        extras = {
            name: fields[name].run_validation(shown[name]) for name in EXTRAS if name in shown
        }
        rows = fields["items"].run_validation(shown["items"])
        for row in rows:
            row["shares"] = {people[pk]: weight for pk, weight in row["shares"].items()}
        return items_of(rows, extras, currency)
    except (KeyError, ValidationError) as error:
        raise wrong from error
