"""Dates that other programs wrote."""


def require_no_week(text: str) -> str:
    """`text` unless it has a week, which Python reads as its Monday. Raises `ValueError`."""
    if "W" in text:
        raise ValueError(text)
    return text
