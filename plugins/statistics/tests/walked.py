"""What the tests that walk all apps need to know of statistics; see `tests/walked.py`."""

from plugins.statistics.views import (
    BalancesPictureViewSet,
    ExplanationViewSet,
    PersonalStatisticsViewSet,
    StatisticsViewSet,
)
from tests.trips.access import ME, TRIP, USER, Row, everybody
from trips.roles import Can

EXPLANATION = f"{TRIP}/balances/{{user_id}}"

ROWS = [
    Row("GET", EXPLANATION, can=Can.READ),
    Row("GET", f"{ME}/statistics", statuses=USER),
    Row("GET", f"{ME}/statistics.svg", statuses=USER),
    Row("GET", f"{ME}/between/{{user_id}}",
        statuses=everybody(200, stranger=404, anonymous=401, admin=404),
        own=everybody(200, stranger=404, admin=404)),
    Row("GET", f"{TRIP}/balances.svg", can=Can.READ),
    Row("GET", f"{TRIP}/statistics", can=Can.READ),
    Row("GET", f"{TRIP}/statistics.svg", can=Can.READ),
]  # fmt: skip
MORE = dict.fromkeys((StatisticsViewSet, PersonalStatisticsViewSet), ("expenses:read",))
AREAS = {
    **dict.fromkeys(MORE, "trips"),
    **dict.fromkeys((BalancesPictureViewSet, ExplanationViewSet), "expenses"),
}
QUERIES = {
    EXPLANATION: 5,
    f"{ME}/statistics": 4,
    f"{ME}/statistics.svg": 4,
    f"{ME}/between/{{user_id}}": 6,
    f"{TRIP}/balances.svg": 2,
    f"{TRIP}/statistics": 4,
    f"{TRIP}/statistics.svg": 4,
}
LISTS = {EXPLANATION}
DEAR = {"an explanation": ("get", EXPLANATION, lambda _wide: None, (600, 60))}
OF_PERSON = ["balances/{}"]
ACROSS = {
    "plugins.statistics.personal._trips": "A person's trips.",
    "plugins.statistics.personal._shared": "The trips of two people.",
    "plugins.statistics.personal._sent": "What two people sent each other in all trips.",
    "plugins.statistics.personal._owed": "What two people owe each other in all trips.",
    "plugins.statistics.personal._own": "An array of trips, for one's own statistics.",
    "plugins.statistics.personal._credit": "What two people paid each other too much in all trips.",
    "plugins.statistics.personal._uncovered": "An array of trips, for one's own statistics.",
}
LASTING = ["/api/trips/{trip}/statistics"]
UNCHANGED = [
    f"statistics?asOf=2026-05-20&by={by}" for by in ("category", "tag", "member", "currency")
]
PLACES = ["/statistics"]
SINGLE = ["/api/trips/{trip_id}/balances.svg"]
FILES = ["balances.svg", "statistics.svg"]
SHOWN = {
    "statistics": "{path}/statistics?asOf=2099-12-31",
    "my statistics": "/users/me/statistics",
    "between": "/users/me/between/{olga}",
    "explanation": "{path}/balances/{ed}",
}
