"""Bodies that make a trip, and an expense."""

from typing import Any

LISBON: dict[str, Any] = {
    "title": "Lisbon in May",
    "destination": "Lisbon",
    "startDate": "2026-05-14",
    "endDate": "2026-05-18",
}


def lisbon(**fields: Any) -> dict[str, Any]:
    """A trip with other `fields`; an ellipsis leaves one out."""
    return {key: value for key, value in (LISBON | fields).items() if value is not ...}


def dinner(*people: Any, **fields: Any) -> dict[str, Any]:
    """The body of a new expense of 10 that these people share, with other `fields`."""
    return {
        "description": "Dinner",
        "amount": 10,
        "expenseDate": "2026-05-14",
        "splitType": "EQUAL",
        "participantUserIds": [user.pk for user in people],
        **fields,
    }
