"""Kept sums of a trip are those of its expenses at any time, and are read again day by day."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import product
from operator import add
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from time_machine import TimeMachineFixture

from plugins.statistics import kept, report
from plugins.statistics.kept import KeptSums
from plugins.statistics.personal import PersonalStatistics
from plugins.statistics.report import KINDS, Statistics
from splits.models import Expense
from splits.money import divide, parse_places
from tests.cast import Api
from tests.factories import TripFactory, add_guest, join, spend
from tests.splits.histories import HISTORIES
from tests.splits.ledger import Json, Ledger
from tests.stored import rolled_back
from trips.models import Trip
from trips.roles import TripRole
from users.models import User

DAYS = [date(2026, 5, 14) + timedelta(days=at) for at in (-20, 0, 1, 30)]


def shown(trip: Trip, viewer: User, as_of: date = DAYS[-1]) -> dict[str, Any]:
    """The statistics of all kinds, without their order: equal sums may be in any."""
    trip = Trip.objects.get(pk=trip.pk)
    found = {kind: Statistics(trip, viewer, as_of, kind) for kind in KINDS}
    return {
        kind: (one.total_minor, {group.key: repr(group) for group in one.groups})
        for kind, one in found.items()
    }


def read_anew(*args: Any) -> dict[str, Any]:
    with patch.object(report, "KEPT_SUMS", KeptSums()):
        return shown(*args)


def statements(trip: Trip, viewer: User, kind: str = "day") -> int:
    """How many statements read the statistics."""
    with CaptureQueriesContext(connection) as captured:
        Statistics(trip, viewer, DAYS[-1], kind)
    return len(captured)


# -- Any history --------------------------------------------------------------------------------

STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "step": st.sampled_from(
                ["record", "record", "change", "change", "delete", "restore", "remove a split"]
                + ["add a split", "pay", "settle", "rename a tag", "merge", "change the currency"]
                + ["leave", "undone"]
            ),
            "at": st.integers(0, 5),
            "fields": st.fixed_dictionaries(
                {"amount": st.integers(2, 90)},
                optional={
                    "expenseDate": st.sampled_from(DAYS).map(str),
                    "category": st.sampled_from(["FOOD", "TRANSPORT"]),
                    "tags": st.sampled_from([[], ["Wine"], ["Wine", "Beach"]]),
                },
            ),
            "as_of": st.sampled_from(DAYS),
            "reads": st.booleans(),
        }
    ),
    min_size=2,
    max_size=12,
)


class History:
    """Takes steps in a trip; one that is not possible is refused, and changes nothing."""

    def __init__(self, api: Api, trip: Trip, people: list[User]) -> None:
        self.ledger, self.people, self.guest = Ledger(trip, api, people[0]), people, people[-1]
        self.recorded: list[int] = []

    def answer(self, method: str, path: str, body: Any = None, by: User | None = None) -> Any:
        response = self.ledger.answer(by or self.people[0], method, path, body)
        assert response.status_code < 500
        return response.json() if response.content else None

    def take(self, step: str, at: int, fields: Json) -> None:
        if step == "record" or not self.recorded:
            first, *others = self.people[at % 3 :]
            fields = {"currency": "USD", "exchangeRate": 1.37, **fields} if at == 5 else fields
            body = self.ledger.expense_body(fields.pop("amount"), first, *others, **fields)
            made = self.answer("post", "expenses", body)
            self.recorded += [made["id"]] if "id" in made else []
            return
        expense = self.recorded[at % len(self.recorded)]
        path, trip_path = f"expenses/{expense}", f"/api/trips/{self.ledger.trip.pk}"
        found = self.answer("get", path).get("splits") or [{"id": 0}]
        split = f"/api/{path}/splits/{found[at % len(found)]['id']}"
        olga, ed = self.people[:2]
        sides = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 1}
        part = {"participantUserId": self.people[at % 3].pk, "amount": 1}
        if step == "undone":
            with rolled_back():
                self.answer("patch", path, fields)
                shown(self.ledger.trip, olga)
            return
        requests: dict[str, tuple[Any, ...]] = {
            "change": ("patch", path, fields),
            "delete": ("delete", path),
            "restore": ("post", f"{path}/restore"),
            "remove a split": ("delete", split),
            "add a split": ("post", f"/api/{path}/splits", part),
            "pay": ("put", f"{split}/pay"),
            "settle": ("post", "settlements", sides),
            "rename a tag": ("patch", "tags/Wine", {"name": "Beach" if at % 2 else "Beer"}),
            "merge": ("post", f"guests/{self.guest.pk}/merge", {"userId": ed.pk}),
            "change the currency": ("patch", trip_path, {"currency": "JPY" if at % 2 else "EUR"}),
            "leave": ("delete", "members/me", None, ed),
        }
        self.answer(*requests[step])


@pytest.mark.once
@pytest.mark.soak
@HISTORIES
@given(steps=STEPS)
def test_after_any_history_kept_sums_are_those_that_are_read_anew(
    api: Api, olga: User, ed: User, vera: User, steps: list[dict[str, Any]]
) -> None:
    trip = TripFactory(currency="EUR")
    join(trip, olga, TripRole.OWNER)
    people = [olga, ed, vera, add_guest(trip)]
    for user in (ed, vera):
        join(trip, user)
    history = History(api, trip, people)
    for step in steps:
        history.take(step["step"], step["at"], dict(step["fields"]))
        if step["reads"]:
            for viewer in (olga, ed):
                assert shown(trip, viewer, step["as_of"]) == read_anew(trip, viewer, step["as_of"])
    assert shown(trip, olga) == read_anew(trip, olga)


def plainly_summed(user: User, year: int | None) -> dict[tuple[str, ...], list[int]]:
    """What `user` paid and bears, and of how many expenses, by currency, kind and key."""
    sums: dict[tuple[str, ...], list[int]] = {}
    trips = Trip.objects.filter(members__user=user, members__left_at=None)
    for expense in Expense.objects.filter(trip__in=trips).select_related("trip"):
        paid = {row.user_id: row.amount_minor for row in expense.payers.order_by("id")}
        parts = {row.participant_id: row.amount_minor for row in expense.splits.all()}
        left_minor = expense.amount_minor - sum(parts.values())
        places = parse_places(expense.trip.claimed_guests, expense.merged_guests)
        uncovered = divide(left_minor, paid, expense.number, places) if left_minor else {}
        day, trip = expense.expense_date, expense.trip
        if user.pk not in paid.keys() | parts.keys() or year not in (None, day.year):
            continue
        mine = [paid.get(user.pk, 0), parts.get(user.pk, 0) + uncovered.get(user.pk, 0)]
        mine.append(user.pk in paid)
        keys = (("trips", trip.pk), ("categories", expense.category), ("months", f"{day:%Y-%m}"))
        for kind, key in (("all", ""), *keys):
            old = sums.get((trip.currency, kind, str(key)), [0, 0, 0])
            sums[trip.currency, kind, str(key)] = [*map(add, old, mine)]
    return sums


def personal(user: User, year: int | None) -> dict[tuple[str, ...], list[int]]:
    user = User.objects.get(pk=user.pk)
    return {
        (one.currency, kind, group.key): [group.paid_minor, group.share_minor, group.count]
        for one in PersonalStatistics.of(user, year).currencies
        for kind in ("all", "trips", "categories", "months")
        for group in ([one.all] if kind == "all" else getattr(one, kind))
    }


@pytest.mark.soak
@HISTORIES
@given(steps=STEPS, most=st.sampled_from([0, 10]))
def test_after_any_history_my_sums_are_those_of_all_my_expenses(
    api: Api, olga: User, ed: User, vera: User, steps: list[dict[str, Any]], most: int
) -> None:
    histories = []
    for currency in ("EUR", "EUR", "USD"):
        trip = TripFactory(currency=currency)
        join(trip, olga, TripRole.OWNER)
        people = [olga, ed, vera, add_guest(trip)]
        for user in (ed, vera):
            join(trip, user)
        histories.append(History(api, trip, people))
    with patch.object(kept, "MAX_TRIPS", most):
        for at, step in enumerate(steps):
            histories[(at + step["at"]) % 3].take(step["step"], step["at"], dict(step["fields"]))
            if step["reads"] or at == len(steps) - 1:
                for viewer, year in product((olga, ed), (None, 2026, 2025)):
                    assert personal(viewer, year) == plainly_summed(viewer, year)


def test_a_corrected_amount_counts_at_once(api: Api, trip: Trip, olga: User) -> None:
    expense = spend(trip, 1000, paid_by=olga, among=[olga], expense_date=DAYS[1])
    path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    for amount in (7, 3):
        assert api(olga).patch(path, {"amount": amount}).status_code == 200
        assert Statistics(trip, olga, DAYS[-1], "day").total_minor == 100 * amount
        assert Statistics(trip, olga, DAYS[-1], "member").total_minor == 100 * amount


def test_after_a_merge_the_part_of_the_guest_is_the_members(
    api: Api, trip: Trip, olga: User, ed: User
) -> None:
    guest = add_guest(trip)
    spend(trip, 1000, paid_by=olga, among=[guest])
    assert shown(trip, ed)["day"][0] == 1000
    path = f"/api/trips/{trip.pk}/guests/{guest.pk}/merge"
    assert api(olga).post(path, {"userId": ed.pk}).status_code == 200
    [group] = Statistics(trip, ed, DAYS[-1], "day").groups
    assert group.share_minor == 1000


# -- What is read -------------------------------------------------------------------------------


def test_without_a_change_only_the_journal_is_read(api: Api, trip: Trip, olga: User) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga], expense_date=DAYS[0])
    client = api(olga)
    for by in KINDS[1:]:
        assert client.get(f"/api/trips/{trip.pk}/statistics?by={by}").status_code == 200
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/api/trips/{trip.pk}/statistics?by={by}").status_code == 200
        # The session, the trip, the journal; and of members who they are and what comes later.
        selects = len([query for query in captured if "SELECT" in query["sql"]])
        assert selects == (6 if by == "member" else 3)


def test_after_a_change_only_its_days_are_read(trip: Trip, olga: User) -> None:
    for at in range(40):
        spend(trip, 1000 + at, paid_by=olga, among=[olga], expense_date=DAYS[0] + timedelta(at))
    shown(trip, olga)
    days: list[tuple[date, date]] = []

    def noted(read: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            days.append(args[-2:])
            return read(*args)

        return noting

    moved = trip.expenses.get(expense_date=DAYS[0])
    moved.change(olga, expense_date=DAYS[1])
    with patch.object(report, "_sums", noted(report._sums)):
        assert Statistics(trip, olga, DAYS[-1], "day").total_minor == sum(range(1000, 1040))
    assert sorted(days) == [(day, day) for day in DAYS[:2]]


@pytest.mark.parametrize("bound", ["MAX_DAYS", "MAX_CHANGES"])
def test_after_many_changes_everything_is_read_in_as_many_statements(
    trip: Trip, olga: User, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(kept, bound, 2)
    counts = []
    for size in (1, 3, 6):
        for at in range(size):
            spend(trip, 100, paid_by=olga, among=[olga], expense_date=DAYS[0] + timedelta(at))
        counts.append(statements(trip, olga))
    # The changes and whose days they concern are looked up before.
    assert counts[0] == 3
    assert max(counts) <= 5
    assert shown(trip, olga) == read_anew(trip, olga)


# -- What is kept -------------------------------------------------------------------------------


def test_what_was_rolled_back_is_in_no_sum(trip: Trip, olga: User) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga])
    before = shown(trip, olga)
    with rolled_back():
        spend(trip, 500, paid_by=olga, among=[olga])
        assert shown(trip, olga) != before
    assert shown(trip, olga) == before
    spend(trip, 70, paid_by=olga, among=[olga])
    assert Statistics(trip, olga, DAYS[-1], "day").total_minor == 1070


def test_a_journal_row_of_another_time_is_another_history(
    trip: Trip, olga: User, time_machine: TimeMachineFixture
) -> None:
    """As after a backup was restored: the row has the same number."""
    for at, amount_minor in enumerate((500, 70)):
        time_machine.move_to(datetime(2026, 5, 14, at, tzinfo=UTC), tick=False)
        with rolled_back():
            spend(trip, amount_minor, paid_by=olga, among=[olga])
            total_minor = Statistics(trip, olga, DAYS[-1], "day").total_minor
        assert total_minor == amount_minor


def test_everybody_has_their_own_part(trip: Trip, olga: User, ed: User) -> None:
    spend(trip, 1000, paid_by=olga, among=[ed])
    for viewer, share_minor in ((olga, 0), (ed, 1000), (olga, 0)):
        [group] = Statistics(trip, viewer, DAYS[-1], "day").groups
        assert group.share_minor == share_minor


def test_memory_is_bounded_and_the_oldest_sums_go_first(
    olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MAX_ROWS", 6)
    trips = [TripFactory(), TripFactory(), TripFactory()]
    for trip in trips:
        join(trip, olga, TripRole.OWNER)
        for day in DAYS[:2]:
            spend(trip, 1000, paid_by=olga, among=[olga], expense_date=day)
    first, second, third = trips
    cold = [statements(trip, olga) for trip in (first, second)]
    assert [statements(trip, olga) for trip in (first, second)] == [1, 1]
    assert [statements(first, olga), statements(third, olga)] == [1, *cold[:1]]
    assert [statements(first, olga), statements(second, olga) > 1] == [1, True]


def test_sums_larger_than_the_bound_are_not_kept(
    trip: Trip, olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MAX_ROWS", 1)
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert [statements(trip, olga) for _turn in range(3)] == [3, 3, 3]
