"""What all of one's trips have cost, and what is between two people."""

import csv
import io

from tests.document import problem_of
from tests.factories import join, owned_trip, settle, spend
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.roles import TripRole

MINE = "/api/users/me/statistics"


def second_trip(olga, ed, currency="EUR"):
    trip = owned_trip(olga, title="Alps", currency=currency)
    join(trip, ed, TripRole.EDITOR)
    return trip


def test_what_one_paid_and_bears_in_all_trips(api, trip, olga, ed):
    alps, yen = second_trip(olga, ed), second_trip(olga, ed, "JPY")
    spend(trip, 3000, paid_by=olga, among=[olga, ed], category="FOOD", expense_date="2026-05-14")
    spend(trip, 1000, paid_by=ed, among=[olga], category="FOOD", expense_date="2026-06-01")
    spend(alps, 500, paid_by=olga, among=[ed], category="TRANSPORT", expense_date="2025-12-31")
    spend(yen, 700, paid_by=olga, among=[olga], expense_date="2026-05-14")
    shown = api(olga).get(MINE).json()
    assert shown["year"] is None
    euros, yens = shown["currencies"]
    assert (euros["currency"], euros["paid"], euros["share"], euros["count"]) == ("EUR", 35, 25, 2)
    assert [(one["key"], one["paid"], one["share"]) for one in euros["trips"]] == [
        (str(trip.pk), 30, 25),
        (str(alps.pk), 5, 0),
    ]
    categories = [(one["key"], one["paid"], one["share"]) for one in euros["categories"]]
    assert categories == [("FOOD", 30, 25), ("TRANSPORT", 5, 0)]
    assert [one["key"] for one in euros["months"]] == ["2025-12", "2026-05", "2026-06"]
    assert (yens["currency"], yens["paid"], yens["share"]) == ("JPY", 700, 700)
    [only] = api(olga).get(MINE, {"year": "2025"}).json()["currencies"]
    assert (only["paid"], only["share"], only["count"]) == (5, 0, 1)
    rows = list(
        csv.DictReader(io.StringIO(api(olga).get(f"{MINE}?format=csv").content.decode("utf-8-sig")))
    )
    assert {row["by"] for row in rows} == {"trips", "categories", "months"}
    shown = api(olga).get(f"{MINE}?format=svg").content
    assert b"<svg" in shown
    assert api(olga).get(f"{MINE}.svg").content == shown


def test_a_changed_expense_counts_at_once(api, trip, olga):
    expense = spend(trip, 1000, paid_by=olga, among=[olga])
    for amount in (10, 7):
        path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
        assert api(olga).patch(path, {"amount": amount}).status_code == 200
        assert api(olga).get(MINE).json()["currencies"][0]["paid"] == amount


def test_a_trip_in_which_one_has_nothing_is_not_shown(api, trip, olga, ed):
    spend(trip, 1000, paid_by=ed, among=[ed])
    assert api(olga).get(MINE).json()["currencies"] == []


def test_payers_bear_what_no_split_covers(api, trip, olga, ed):
    expense = spend(trip, 3000, paid_by=olga, among=[olga, ed])
    split = expense.loaded_splits[1]
    assert api(olga).delete(f"/api/expenses/{expense.pk}/splits/{split.pk}").status_code == 204
    [euros] = api(olga).get(MINE).json()["currencies"]
    assert (euros["paid"], euros["share"]) == (30, 30)


def test_what_is_between_two_people(api, trip, olga, ed):
    alps = second_trip(olga, ed)
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    spend(alps, 1000, paid_by=ed, among=[olga])
    settle(trip, ed, olga, 500)
    shown = api(olga).get(f"/api/users/me/between/{ed.pk}").json()
    assert shown["user"]["name"] == ed.name
    assert shown["currencies"] == [{"currency": "EUR", "youOwe": 10, "owesYou": 10, "net": 0}]
    lisbon, mountains = shown["trips"]
    assert (lisbon["tripId"], lisbon["owesYou"], lisbon["sentYou"]) == (trip.pk, 10, 5)
    assert (mountains["title"], mountains["youOwe"], mountains["youSent"]) == ("Alps", 10, 0)
    assert api(ed).get(f"/api/users/me/between/{olga.pk}").json()["trips"][0]["youOwe"] == 10


def test_what_was_paid_too_much_is_owed_back(api, trip, olga, ed, vera):
    spend(trip, 2000, paid_by=olga, among=[olga, ed])
    settle(trip, ed, olga, 2500)
    [shown] = api(olga).get(f"/api/users/me/between/{ed.pk}").json()["currencies"]
    assert shown == {"currency": "EUR", "youOwe": 15, "owesYou": 0, "net": -15}
    # An expense that used it up, and then is another's, leaves it again.
    boat = spend(trip, 1500, paid_by=olga, among=[ed])
    [shown] = api(ed).get(f"/api/users/me/between/{olga.pk}").json()["currencies"]
    assert (shown["youOwe"], shown["owesYou"]) == (0, 0)
    assert api(olga).delete(f"/api/trips/{trip.pk}/expenses/{boat.pk}").status_code == 204
    [row] = api(ed).get(f"/api/users/me/between/{olga.pk}").json()["trips"]
    assert (row["youOwe"], row["owesYou"], row["youSent"]) == (0, 15, 25)


def test_between_strangers_is_nothing_to_find(api, trip, olga, sam):
    for user_id in (sam.pk, 10**9):
        problem_of(api(olga).get(f"/api/users/me/between/{user_id}"), 404, "not_found")
    problem_of(api(sam).get(f"/api/users/me/between/{olga.pk}"), 404, "not_found")


def test_a_script_sees_its_own_trip_only(api, trip, olga, ed):
    alps = second_trip(olga, ed)
    spend(trip, 3000, paid_by=olga, among=[olga])
    spend(alps, 100, paid_by=olga, among=[olga])
    scopes = ("trips:read", "expenses:read")
    confined = bearer(script_of(olga, *scopes, trip=alps).token)
    [euros] = confined.get(MINE).json()["currencies"]
    assert euros["paid"] == 1
    [row] = confined.get(f"/api/users/me/between/{ed.pk}").json()["trips"]
    assert row["tripId"] == alps.pk
    assert bearer(script_of(olga, "trips:read").token).get(MINE).status_code == 403
