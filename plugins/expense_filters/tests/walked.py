"""What the tests that walk all apps need to know of the filters; see `tests/walked.py`."""

from tests.trips.access import TRIP

_GENERAL = (600, 60)
DEAR = {
    "a search": ("get", f"{TRIP}/expenses?search=nowhere", lambda _wide: None, _GENERAL),
    "a search for many words": (
        "get",
        f"{TRIP}/expenses?pageSize=100&search={'%20'.join(['n'] * 127)}",
        lambda _wide: None,
        _GENERAL,
    ),
    "unpaid expenses": ("get", f"{TRIP}/expenses?paid=false", lambda _wide: None, _GENERAL),
}
