"""A trip that is made of the file of another one is the same trip."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import run_state_machine_as_test

from plugins.exchange import imported_history
from plugins.exchange.description import UnreadableFile
from plugins.exchange.tests.copies import answers, contents, copied, file_of, forged
from splits.models import Expense, Settlement
from tests.factories import UserFactory, add_guest, purge, spend
from tests.splits.test_ledger_machine import Trip as Machine
from tests.trips.budgets import with_budgets
from trips.deletion import delete_account
from trips.models import JournalEntry, Member
from trips.models.events import all_events
from users.models import User

pytestmark = pytest.mark.either

ITEMS_OF_NOBODY = [{"name": "Fish", "amount": 9, "shares": {"999999": 1}}]
WRONG_BUDGETS: list[Any] = [{"WINE": 1}, {"FOOD": 0.001}, [], 7]
WRONG_DIVISIONS = [
    {"splitType": "SHARES", "participantUserIds": [999999], "splitAmounts": {"1": 2}},
    {"splitType": "EQUAL", "splitAmounts": {"1": 2}},
    [],
    7,
]


def test_the_copy_is_the_same_trip(api, lived, olga):
    content = file_of(api, lived, olga)
    copy = copied(content, olga)
    assert answers(api, copy, olga) == answers(api, lived, olga)
    again, before = contents(file_of(api, copy, olga)), contents(content)
    assert again["history"].pop()["event"] == "member.joined"
    assert again == before
    assert Settlement.objects.filter(trip=copy, split__isnull=False).count() == 1
    assert [row["via"] for row in json.loads(file_of(api, copy, olga))["history"]][:-1] == (
        ["import"] * len(before["history"])
    )


@pytest.fixture
def dinner(api, trip, olga, ed):
    """An itemized dinner in the trip, which has a default division; the items of the dinner."""
    client, url = api(olga), f"/api/trips/{trip.pk}"
    shares = {str(olga.pk): 1, str(ed.pk): 2}
    division = {"splitType": "SHARES", "participantUserIds": [olga.pk, ed.pk]}
    division |= {"splitAmounts": shares}
    assert client.patch(url, {"defaultDivision": division}).status_code == 200
    [fish] = items = [{"name": "Fish", "amount": 9, "shares": shares}]
    body = {"description": "Dinner", "expenseDate": "2026-05-14", "amount": 10, "tip": 1}
    body |= {"splitType": "ITEMIZED", "items": items}
    assert client.post(f"{url}/expenses", body).status_code == 201
    return fish


def test_items_and_the_default_division_name_the_people_of_the_copy(
    api, trip, olga, ed, sam, dinner
):
    copy = copied(file_of(api, trip, olga), sam)
    client, url = api(sam), f"/api/trips/{copy.pk}"
    people = {m.user.name: m.user_id for m in Member.objects.filter(trip=copy)}
    in_copy = {str(people[user.name]): dinner["shares"][str(user.pk)] for user in (olga, ed)}
    shown = client.get(url).json()["defaultDivision"]
    assert shown["splitAmounts"] == in_copy
    assert shown["participantUserIds"] == [people[user.name] for user in (olga, ed)]
    [expense] = client.get(f"{url}/expenses").json()["items"]
    assert expense["items"] == [{**dinner, "shares": in_copy}]
    [entry, *_others] = client.get(f"{url}/history?event=expense.created").json()["items"]
    assert entry["changes"]["items"]["new"][0]["shares"] == in_copy


def test_a_copy_has_the_budgets_of_categories(api, trip, olga, sam):
    content = file_of(api, with_budgets(trip, api(olga)), olga)
    budgets = {"FOOD": Decimal("200.5"), "TRANSPORT": Decimal("33.34")}
    assert copied(content, sam).category_budgets == budgets
    assert copied(forged(content, "trip", 0, categoryBudgets=...), sam).category_budgets is None


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        *(("trip", {"categoryBudgets": wrong}) for wrong in WRONG_BUDGETS),
        *(("expenses", {"items": items}) for items in (ITEMS_OF_NOBODY, [], 5)),
        *(("trip", {"defaultDivision": division}) for division in WRONG_DIVISIONS),
    ],
)
def test_wrong_items_budgets_or_default_divisions_make_nothing(
    api, trip, olga, dinner, table, fields
):
    with pytest.raises(UnreadableFile):
        copied(forged(file_of(api, trip, olga), table, 0, **fields), olga)


def test_a_file_without_a_default_division_has_none_but_items_are_needed(api, trip, olga, dinner):
    held = json.loads(file_of(api, trip, olga))
    del held["trip"]["defaultDivision"]
    assert copied(json.dumps(held).encode(), olga).default_division is None
    del held["expenses"][0]["items"]
    with pytest.raises(UnreadableFile):
        copied(json.dumps(held).encode(), olga)


def test_a_guest_who_is_gone_is_nobody_in_the_copy_either(api, trip, olga):
    """The default division and the items named her, but no row did when she was removed."""
    client, url, ann = api(olga), f"/api/trips/{trip.pk}", add_guest(trip, "Ann")
    named = {"participantUserIds": [olga.pk, ann.pk], "splitType": "EQUAL"}
    assert client.patch(url, {"defaultDivision": named}).status_code == 200
    items = [{"name": "Fish", "amount": 9, "shares": {str(olga.pk): 1, str(ann.pk): 2}}]
    body = {"description": "Dinner", "amount": 9, "expenseDate": "2026-05-14"}
    body |= {"splitType": "ITEMIZED", "items": items}
    dinner = client.post(f"{url}/expenses", body).json()
    [split] = [row for row in dinner["splits"] if row["participant"]["id"] == ann.pk]
    assert client.delete(f"/api/expenses/{dinner['id']}/splits/{split['id']}").status_code == 204
    assert client.delete(f"{url}/members/{ann.pk}").status_code == 204
    copy = trip
    for _time in range(2):
        copy = copied(file_of(api, copy, olga), olga)
        people = (copy.default_division or {})["participantUserIds"]
        [item] = json.loads(copy.expenses.get().stored_items or "")["items"]
        assert [str(pk) for pk in people] == list(item["shares"])
        assert people[0] == olga.pk
        assert not User.objects.filter(pk=people[1]).exists()


def test_everybody_else_is_a_guest_and_the_caller_an_owner(api, lived, olga, sam):
    copy = copied(file_of(api, lived, olga), sam)
    members = {
        member.user.name: (member.role, member.user.is_guest)
        for member in Member.objects.filter(trip=copy).select_related("user")
    }
    assert members.pop("Sam Stranger") == ("OWNER", False)
    assert set(members.values()) == {("VIEWER", True)}
    assert api(olga).get(f"/api/trips/{copy.pk}").status_code == 404


def test_deleting_what_was_paid_in_the_copy_opens_it_again(api, lived, olga):
    trips = [lived, copied(file_of(api, lived, olga), olga)]
    for trip in trips:
        first = trip.settlements.order_by("pk").first()
        assert api(olga).delete(f"/api/trips/{trip.pk}/settlements/{first.pk}").status_code == 204
    assert answers(api, trips[1], olga) == answers(api, trips[0], olga)


def test_the_events_that_a_history_may_have_are_found_once(api, lived, olga, imported, monkeypatch):
    asked = []
    monkeypatch.setattr(imported_history, "all_events", lambda: asked.append(1) or all_events())
    imported(file_of(api, lived, olga), asNewTrip="true")
    assert asked == [1]


def test_the_history_of_the_copy_can_be_read(api, lived, olga, sam):
    copy = copied(file_of(api, lived, olga), sam)
    shown = api(sam).get(f"/api/trips/{copy.pk}/history?pageSize=100").json()["items"]
    before = api(olga).get(f"/api/trips/{lived.pk}/history?pageSize=100").json()["items"]
    starts = [[row["text"][:10] for row in rows] for rows in (shown[1:], before)]
    assert starts[0] == starts[1]
    assert {row["by"] for row in shown[1:]} == {None}
    assert {row["via"] for row in shown[1:]} == {"import"}


def test_who_claims_a_guest_of_the_copy_has_what_they_recorded(api, lived, olga, ed, sam):
    copy = copied(file_of(api, lived, olga), sam)
    guest = Member.objects.get(trip=copy, user__name=ed.name).user
    tarts = copy.expenses.get(created_by=guest)
    assert api(sam).delete(f"/api/trips/{copy.pk}/expenses/{tarts.pk}").status_code == 204
    body = {"guestUserId": guest.pk, "role": "EDITOR"}
    invitation = api(sam).post(f"/api/trips/{copy.pk}/invitations", body).json()
    assert api(ed).post(f"/api/invitations/{invitation['token']}/accept").status_code == 201
    assert api(ed).post(f"/api/trips/{copy.pk}/expenses/{tarts.pk}/restore").status_code == 200
    assert copy.expenses.get(created_by=ed).pk == tarts.pk


def test_a_copy_can_be_deleted_for_good(api, lived, olga, sam):
    copy = copied(file_of(api, lived, olga), sam)
    assert api(sam).delete(f"/api/trips/{copy.pk}").status_code == 204
    guests = User.objects.filter(is_guest=True, memberships__trip=copy).values("pk")
    ids = [row["pk"] for row in guests]
    assert len(ids) == 4
    purge(copy)
    assert not User.objects.filter(pk__in=ids).exists()


class Copied(Machine):
    """A random history, after which the trip is copied."""

    def teardown(self):
        try:
            if hasattr(self, "ledger"):
                self.compare()
        finally:
            super().teardown()

    def compare(self):
        content = file_of(self.api, self.ledger.trip, self.admin)
        copy = copied(content, self.callers[0])
        again = contents(file_of(self.api, copy, self.admin))
        again["history"].pop()
        assert again == contents(content)
        twice = answers(self.api, copy, self.admin)
        assert twice == answers(self.api, self.ledger.trip, self.admin)


@pytest.mark.slow
@pytest.mark.soak
def test_random_trips_are_copied_exactly(api, olga, ed, vera, ada):
    cast = [olga, ed, vera, UserFactory()]
    run_state_machine_as_test(
        lambda: Copied(api, cast, ada),
        settings=hypothesis_settings(
            max_examples=8, derandomize=True, database=None, stateful_step_count=25, deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


def test_a_long_trip_in_which_a_guest_was_merged_is_copied(api, trip, olga, ed):
    """Its file is read in many pieces, and the places of the guests from the start of it."""
    ann, ben = add_guest(trip, "Ann"), add_guest(trip, "Ben")
    for _number in range(40):
        spend(trip, 1000, paid_by=olga, among=[olga, ann, ed])
    trip.expenses.update(notes="n" * Expense._meta.get_field("notes").max_length)
    url = f"/api/trips/{trip.pk}/guests/{ann.pk}/merge"
    assert api(olga).post(url, {"userId": ben.pk}).status_code == 200
    assert answers(api, copied(file_of(api, trip, olga), olga), olga) == answers(api, trip, olga)


def test_what_a_file_says_of_claims_keeps_no_account(api, trip, olga, ed):
    for title in ("A", "B"):
        api(olga).patch(f"/api/trips/{trip.pk}", {"title": title})
    claim: dict[str, Any] = {"event": "guest.claimed", "objectId": ed.pk}
    content = forged(file_of(api, trip, ed), "history", 0, **claim, changes={})
    own_place = {"userId": {"old": ed.pk, "new": ed.pk}}
    copy = copied(forged(content, "history", 1, **claim, changes=own_place), ed)
    events = JournalEntry.objects.filter(trip=copy.pk).order_by("number")
    assert [row.event for row in events][:2] == ["guest.claimed", "guest.claimed"]
    delete_account(ed, by=None)
    assert not User.objects.active().filter(pk=ed.pk).exists()
