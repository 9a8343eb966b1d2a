"""Bodies that make a trip."""

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
