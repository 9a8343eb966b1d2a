"""How expenses of a trip that name no division are divided, as the API shows it.

Stored as JSON: `splitType`, `participantUserIds` (null: everybody who is in the trip then), and
`splitAmounts` by user id (null for EQUAL).
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from trips.models.journal import as_text

#: The split types that fit expenses of any amount. The ledger knows what they mean.
_EQUAL, _SHARES, _PERCENTAGE = DEFAULT_SPLIT_TYPES = ("EQUAL", "SHARES", "PERCENTAGE")
_PERCENT = 100
#: The largest weight, and the decimals of weights and percentages.
MAX_WEIGHT = 10**6
MAX_DECIMALS = 4

Shown = dict[str, Any]


def checked_division(
    split_type: str, user_ids: list[int] | None, amounts: Mapping[str, Decimal] | None
) -> Shown:
    """A default division; raises `ValidationError` if it does not say who bears which part."""
    is_equal = split_type == _EQUAL
    if user_ids is None and not is_equal:
        text = serializers.Field.default_error_messages["required"]
        raise ValidationError({"participantUserIds": [text]})
    if len(set(user_ids or ())) < len(user_ids or ()):
        raise ValidationError({"participantUserIds": [_("A participant is listed twice.")]})
    if {*(amounts or ())} != (set() if is_equal else {*map(str, user_ids or ())}):
        text = _("There must be one for each participant, and none if it is divided equally.")
        raise ValidationError({"splitAmounts": [text]})
    whole = sum((amounts or {}).values())
    if split_type == _PERCENTAGE and whole != _PERCENT:
        text = _("The percentages add up to %(sum)s, not to 100.") % {"sum": whole}
        raise ValidationError({"splitAmounts": [text]})
    return {
        "splitType": split_type,
        "participantUserIds": user_ids,
        "splitAmounts": None if is_equal else amounts,
    }


def load_division(stored: str | None) -> Shown | None:
    """The stored text as the API shows it, with exact numbers."""
    return None if stored is None else json.loads(stored, parse_float=Decimal)


def division_text(shown: Shown | None) -> str | None:
    return None if shown is None else as_text(shown)


def people_in_division(shown: Shown | None) -> list[int]:
    return (shown and shown["participantUserIds"]) or []


def renamed_division(shown: Shown, people: Mapping[int, int]) -> Shown:
    """The division with other people, by their former ids."""
    user_ids, amounts = shown["participantUserIds"], shown["splitAmounts"]
    return {
        **shown,
        "participantUserIds": user_ids and renamed_people(user_ids, people),
        "splitAmounts": amounts and renamed_figures(amounts, people),
    }


def renamed_people(user_ids: Iterable[int], people: Mapping[int, int]) -> list[int]:
    """Other people in the place of some, each once."""
    return list(dict.fromkeys(people.get(pk, pk) for pk in user_ids))


def renamed_figures(figures: Mapping[str, Any], people: Mapping[int, int]) -> dict[str, Any]:
    """Figures by user id for other people; who gets two places has both."""
    renamed: Counter[str] = Counter()
    for pk, figure in figures.items():
        renamed[str(people.get(int(pk), int(pk)))] += figure
    return dict(renamed)
