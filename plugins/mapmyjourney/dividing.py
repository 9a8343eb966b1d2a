"""Which people in a change divide an expense again; the client sends them whatever it changes."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from splits.models import Expense, SplitType


def without_stored_people(stored: Expense, sent: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent without the participants and the payer that the expense has already.

    Raises `ValidationError` if others would replace amounts that the client does not show.
    """
    rest = dict(sent)
    rows = stored.splits.filter(trip=stored.trip_id)
    if _are(rest.get("participantUserIds"), rows.values_list("participant", flat=True)):
        del rest["participantUserIds"]
    is_equal = stored.is_division and stored.split_type == SplitType.EQUAL
    if rest.get("participantUserIds") is not None and not is_equal:
        text = _("The expense is not divided equally: its participants cannot change here.")
        raise ValidationError({"participantUserIds": [text]})
    payers = stored.payers.filter(trip=stored.trip_id).order_by("id")
    user_ids = [*payers.values_list("user", flat=True)]
    if _are([rest.get("paidByUserId")], user_ids[:1]):
        del rest["paidByUserId"]
    if rest.get("paidByUserId") is not None and len(user_ids) > 1:
        text = _("Several people paid the expense: its payer cannot change here.")
        raise ValidationError({"paidByUserId": [text]})
    return rest


def _are(sent: Any, user_ids: Iterable[int]) -> bool:
    """Whether a list has exactly these ids, as numbers or as text, in any order."""
    return isinstance(sent, list) and sorted(map(str, sent)) == sorted(map(str, user_ids))
