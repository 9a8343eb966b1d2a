"""Bodies that make a trip, and an expense; and how people are shown."""

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


def summary(user: Any, **fields: Any) -> dict[str, Any]:
    """A user as their companions see them, with other `fields`."""
    shown = {"id": user.pk, "name": user.name, "email": user.email}
    return {**shown, "profilePicture": None, "guest": False, **fields}
