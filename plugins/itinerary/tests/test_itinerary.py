"""The itinerary: days, their order and what they cost."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.itinerary.models import ActivityExpense, ItineraryDay
from plugins.itinerary.ordering import STEP, renumbered
from tests.document import problem_of
from tests.scoped import script_of
from tests.splits.journey import Journey, answers_at_once, sign_up
from tests.users.logins import bearer
from trips.models import Trip

#: What makes 2,000 activities of one day on the server.
MANY = """
from plugins.itinerary.models import Activity
day = {{"trip_id": {trip}, "created_by_id": {by}, "date": "2026-05-14"}}
Activity.objects.bulk_create(
    Activity(title=f"Stop {{n}}", order=1024 * n, **day) for n in range(2000)
)
"""


def itinerary(ledger, user):
    answer = ledger.answer(user, "get", "itinerary")
    assert answer.status_code == 200, answer.content
    return answer.json()


def planned(ledger, user):
    """The titles by date, of days that have some."""
    days = itinerary(ledger, user)["days"]
    found = {day["date"]: [row["title"] for row in day["activities"]] for day in days}
    return {date: titles for date, titles in found.items() if titles}


def order(ledger, user, date, *ids, **headers):
    body = {"date": date, "activityIds": list(ids)}
    return ledger.client(user).put(f"{ledger.url}/activities/order", body, **headers)


@pytest.mark.either
def test_the_days_are_those_of_the_trip(ledger, vera, trip):
    empty = itinerary(ledger, vera)
    assert (empty["tripId"], empty["undated"], empty["completedPercent"]) == (trip.pk, [], 0)
    assert [(day["date"], day["dayIndex"]) for day in empty["days"]] == [
        (f"2026-05-{14 + index}", index) for index in range(5)
    ]
    nothing = {"title": None, "completed": False, "cost": 0, "activities": []}
    assert all(day.items() >= nothing.items() for day in empty["days"])


@pytest.mark.either
def test_days_outside_of_the_trip_are_days_of_their_own(ledger, plan, olga):
    plan("Pack", date="2026-05-12")
    plan("Wash", date="2026-05-20")
    plan("Some day")
    found = itinerary(ledger, olga)
    outside = [day for day in found["days"] if day["activities"]]
    assert [(day["date"], day["dayIndex"]) for day in outside] == [
        ("2026-05-12", -2),
        ("2026-05-20", 6),
    ]
    assert len(found["days"]) == 7
    assert [row["title"] for row in found["undated"]] == ["Some day"]


@pytest.mark.either
def test_a_trip_of_centuries_lists_a_year(ledger, trip, olga):
    Trip.objects.filter(pk=trip.pk).update(start_date="1900-01-01", end_date="9999-12-31")
    assert len(itinerary(ledger, olga)["days"]) == 366


@pytest.mark.either
def test_a_day_is_ordered(ledger, plan, ed):
    a, b, c = (plan(title, date="2026-05-14")["id"] for title in "abc")
    answer = order(ledger, ed, "2026-05-14", c, a, b)
    assert answer.status_code == 200
    assert [row["title"] for row in answer.json()["activities"]] == ["c", "a", "b"]
    assert planned(ledger, ed) == {"2026-05-14": ["c", "a", "b"]}
    rows = ledger.answer(ed, "get", "history").json()["items"]
    assert [row["object"]["id"] for row in rows if row["event"] == "activity.changed"] == [c]


@pytest.mark.either
def test_an_activity_moves_to_the_day_that_names_it(ledger, plan, ed):
    a, b = (plan(title, date="2026-05-14")["id"] for title in "ab")
    c, d = (plan(title, date="2026-05-15")["id"] for title in "cd")
    assert order(ledger, ed, "2026-05-15", c, a, plan("e")["id"], d).status_code == 200
    assert planned(ledger, ed) == {"2026-05-14": ["b"], "2026-05-15": ["c", "a", "e", "d"]}


@pytest.mark.either
def test_a_list_that_is_out_of_date_changes_nothing(ledger, plan, olga, ed):
    a, b = (plan(title, date="2026-05-14")["id"] for title in "ab")
    for ids in ([a], [b, a, 10**9], [10**9]):
        assert problem_of(order(ledger, ed, "2026-05-14", *ids), 409)["code"] == "order_changed"
    for ids in ([a, a, b], []):
        problem_of(order(ledger, ed, "2026-05-14", *ids), 400)
    assert planned(ledger, ed) == {"2026-05-14": ["a", "b"]}


@pytest.mark.either
def test_who_sends_the_tag_of_what_they_read_undoes_nobodys_move(ledger, plan, olga, ed):
    a, b = (plan(title, date="2026-05-14")["id"] for title in "ab")
    tag = ledger.answer(ed, "get", "itinerary")["ETag"]
    assert order(ledger, olga, "2026-05-15", a).status_code == 200
    stale = order(ledger, ed, "2026-05-14", b, a, HTTP_IF_MATCH=tag)
    assert problem_of(stale, 412)["code"] == "precondition_failed"
    # So is a day that is sent as it was read, with a title that it has no longer.
    read = {"date": "2026-05-14", "activityIds": [b, a], "title": "As it was"}
    path = f"{ledger.url}/activities/order"
    problem_of(ledger.client(ed).put(path, read, HTTP_IF_MATCH=tag), 412)
    tag = ledger.answer(ed, "get", "itinerary")["ETag"]
    assert order(ledger, ed, "2026-05-14", b, HTTP_IF_MATCH=tag).status_code == 200


@pytest.mark.either
def test_ticking_a_day_ticks_its_activities_and_back(ledger, plan, ed):
    plan("a", date="2026-05-14")
    plan("b", date="2026-05-14", completed=True)
    plan("c", date="2026-05-15")
    assert itinerary(ledger, ed)["completedPercent"] == 33
    ticked = ledger.answer(ed, "put", "itinerary/2026-05-14", {"completed": True}).json()
    assert ticked["completed"]
    assert all(row["completed"] for row in ticked["activities"])
    assert itinerary(ledger, ed)["completedPercent"] == 66

    cleared = ledger.answer(ed, "put", "itinerary/2026-05-14", {"completed": False}).json()
    assert not any(row["completed"] for row in cleared["activities"])
    for row in itinerary(ledger, ed)["days"][0]["activities"]:
        ledger.answer(ed, "patch", f"activities/{row['id']}", {"completed": True})
    assert itinerary(ledger, ed)["days"][0]["completed"]


@pytest.mark.either
@pytest.mark.parametrize("done", [["a"], ["a", "b"]])
def test_a_day_that_is_sent_back_with_another_title_keeps_what_is_done(ledger, plan, ed, done):
    for title in ("a", "b"):
        plan(title, date="2026-05-14", completed=title in done)
    day = itinerary(ledger, ed)["days"][0]
    named = ledger.answer(ed, "put", "itinerary/2026-05-14", {**day, "title": "Arrival"}).json()
    assert named["completed"] == day["completed"] == (len(done) == 2)
    assert named["activities"] == day["activities"]
    [change] = ledger.answer(ed, "get", "history?event=day.changed").json()["items"]
    assert change["changes"] == {"title": {"old": None, "new": "Arrival"}}


@pytest.mark.either
def test_a_day_has_a_title_also_without_activities(ledger, ed):
    named = ledger.answer(ed, "put", "itinerary/2026-05-30", {"title": "Rest"}).json()
    assert (named["title"], named["completed"], named["dayIndex"]) == ("Rest", False, 16)
    ticked = ledger.answer(ed, "put", "itinerary/2026-05-30", {"completed": True}).json()
    assert (ticked["title"], ticked["completed"]) == ("Rest", True)
    assert itinerary(ledger, ed)["days"][-1] == ticked
    emptied = {"title": None, "completed": False}
    assert ledger.answer(ed, "put", "itinerary/2026-05-30", emptied).status_code == 200
    assert len(itinerary(ledger, ed)["days"]) == 5
    rows = ledger.answer(ed, "get", "history").json()["items"]
    assert [row["event"] for row in rows[:3]] == ["day.changed"] * 3


@pytest.mark.either
@pytest.mark.parametrize(
    ("day", "body", "status"),
    [
        ("2026-05-14", {"date": "2026-05-15"}, 400),
        ("2026-02-30", {"title": "x"}, 404),
        ("monday", {"title": "x"}, 404),
        ("20260514", {"title": "x"}, 404),
    ],
)
def test_a_bad_day_is_refused(ledger, ed, day, body, status):
    problem_of(ledger.answer(ed, "put", f"itinerary/{day}", body), status)
    assert not ItineraryDay.objects.exists()


@pytest.mark.either
def test_a_trip_names_as_many_days_as_it_may(ledger, ed, monkeypatch):
    monkeypatch.setattr(ItineraryDay, "limit", 1)
    assert ledger.answer(ed, "put", "itinerary/2026-05-14", {"title": "a"}).status_code == 200
    refused = ledger.answer(ed, "put", "itinerary/2026-05-15", {"title": "b"})
    assert problem_of(refused, 409)["code"] == "limit_reached"
    assert ledger.answer(ed, "put", "itinerary/2026-05-14", {"title": "c"}).status_code == 200


@pytest.mark.either
def test_a_day_costs_what_its_expenses_cost(ledger, plan, olga, ed, trip):
    castle = plan("Castle", date="2026-05-14")
    ticket = ledger.spend(olga, 10, olga, ed)
    abroad = ledger.spend(olga, 10, olga, ed, currency="USD", exchangeRate=0.9)
    for expense in (ticket, abroad):
        ActivityExpense.objects.create(
            trip=trip, activity_id=castle["id"], expense_id=expense["id"]
        )
    day = itinerary(ledger, olga)["days"][0]
    assert day["cost"] == 19
    assert day["activities"][0]["expenseIds"] == [ticket["id"], abroad["id"]]
    before = ledger.answer(olga, "get", "itinerary").content
    ledger.delete(ticket, olga)
    assert itinerary(ledger, olga)["days"][0]["cost"] == 9
    ledger.answer(olga, "post", f"expenses/{ticket['id']}/restore")
    ledger.answer(olga, "delete", f"activities/{castle['id']}")
    assert itinerary(ledger, olga)["days"][0]["cost"] == 0
    ledger.answer(olga, "post", f"activities/{castle['id']}/restore")
    assert ledger.answer(olga, "get", "itinerary").content == before


@pytest.mark.either
def test_the_plan_moves_with_the_trip_if_asked(ledger, plan, olga, trip):
    plan("a", date="2026-05-14")
    plan("b", date="2026-05-15")
    plan("undated")
    gone = plan("c", date="2026-05-15")["id"]
    ledger.answer(olga, "delete", f"activities/{gone}")
    for day in ("2026-05-14", "2026-05-15"):
        ledger.answer(olga, "put", f"itinerary/{day}", {"title": day})
    later = {"startDate": "2026-05-15", "endDate": "2026-05-19"}

    assert ledger.answer(olga, "patch", f"/api/trips/{trip.pk}", later).status_code == 200
    assert planned(ledger, olga) == {"2026-05-14": ["a"], "2026-05-15": ["b"]}
    back = {"startDate": "2026-05-14", "moveActivities": False}
    assert ledger.answer(olga, "patch", f"/api/trips/{trip.pk}", back).status_code == 200
    ids = {day["title"]: day["id"] for day in itinerary(ledger, olga)["days"] if day["id"]}
    moved = later | {"moveActivities": True}
    answer = ledger.answer(olga, "patch", f"/api/trips/{trip.pk}", moved)
    assert "moveActivities" not in answer.json()
    assert planned(ledger, olga) == {"2026-05-15": ["a"], "2026-05-16": ["b"]}
    named = {day["date"]: day["title"] for day in itinerary(ledger, olga)["days"]}
    assert (named["2026-05-15"], named["2026-05-16"]) == ("2026-05-14", "2026-05-15")
    told = trip.journal.filter(event="day.changed").order_by("-number")[:2]
    assert sorted(row.changes["date"]["new"] for row in told) == ["2026-05-15", "2026-05-16"]
    # By these, whoever follows the changes knows which day has another date.
    assert {day["title"]: day["id"] for day in itinerary(ledger, olga)["days"] if day["id"]} == ids
    assert {row.object_id for row in told} == {*ids.values()}
    assert ledger.answer(olga, "post", f"activities/{gone}/restore").json()["date"] == "2026-05-16"


@pytest.mark.either
def test_a_token_moves_the_plan_only_with_the_scope_for_it(ledger, plan, olga, trip):
    plan("a", date="2026-05-14")
    later = {"startDate": "2026-05-15", "endDate": "2026-05-19"}
    client = bearer(script_of(olga, "trips:read", "trips:write").token)
    answer = client.patch(f"/api/trips/{trip.pk}", later | {"moveActivities": True})
    problem_of(answer, 403, "insufficient_scope")
    assert client.patch(f"/api/trips/{trip.pk}", later).status_code == 200
    assert planned(ledger, olga) == {"2026-05-14": ["a"]}


@pytest.mark.either
def test_a_plan_does_not_move_out_of_the_calendar(ledger, plan, olga, trip):
    plan("a", date="9999-12-31")
    later = {"startDate": "2026-05-15", "moveActivities": True}
    refused = problem_of(ledger.answer(olga, "patch", f"/api/trips/{trip.pk}", later), 400)
    assert [*refused["errors"]] == ["moveActivities"]
    for method, path in (("put", f"/api/trips/{trip.pk}"), ("post", "/api/trips")):
        problem_of(ledger.answer(olga, method, path, {"moveActivities": True}), 400)
    assert itinerary(ledger, olga)["days"][0]["date"] == "2026-05-14"


def test_two_people_order_2000_activities_at_once(server, http):
    owner, editor = sign_up(http), sign_up(http)
    journey = Journey.start(owner)
    journey.admit(editor)
    server.manage("shell", "--command", MANY.format(trip=journey.id, by=owner.id))

    def shown():
        [day] = [
            d for d in owner.done("GET", f"{journey.path}/itinerary")["days"] if d["activities"]
        ]
        return [row["id"] for row in day["activities"]]

    ids = shown()
    assert len(ids) == 2000
    orders = [ids[::-1], ids[1000:] + ids[:1000]]
    answers = answers_at_once(
        [
            partial(
                user.call,
                "PUT",
                f"{journey.path}/activities/order",
                {"date": "2026-05-14", "activityIds": wanted},
            )
            for user, wanted in zip((owner, editor), orders, strict=True)
        ]
    )
    assert [answer.status_code for answer in answers] == [200, 200]
    assert shown() in orders
    moved, gone = ids[0], ids[1]
    answers = answers_at_once(
        [
            partial(owner.call, "DELETE", f"{journey.path}/activities/{gone}"),
            partial(
                editor.call,
                "PUT",
                f"{journey.path}/activities/order",
                {"date": "2026-05-15", "activityIds": [gone, moved]},
            ),
        ]
    )
    assert answers[0].status_code == 204
    assert answers[1].status_code in {200, 409}
    days = owner.done("GET", f"{journey.path}/itinerary")["days"]
    assert {row["id"] for day in days for row in day["activities"]} == {*ids} - {gone}


@given(st.lists(st.none() | st.integers(0, 3000)))
def test_new_numbers_rise(numbers):
    found = renumbered(numbers)
    assert len(found) == len(numbers)
    assert all(low < high for low, high in zip([0, *found], found, strict=False))


@given(st.sets(st.integers(1, 10**6)))
def test_numbers_that_rise_stay(numbers):
    assert renumbered(sorted(numbers)) == sorted(numbers)


def test_one_that_moves_changes_alone():
    assert renumbered([3 * STEP, STEP, 2 * STEP]) == [STEP // 2, STEP, 2 * STEP]
    assert renumbered([2 * STEP, STEP, 3 * STEP])[2] == 3 * STEP


def test_without_room_all_get_new_numbers():
    assert renumbered([1, None, 2]) == [STEP, 2 * STEP, 3 * STEP]
