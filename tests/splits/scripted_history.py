"""Histories that a test writes itself, step by step, instead of hypothesis."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from splits.reports.audit import differences
from tests.cast import Api
from tests.document import problem_of
from tests.splits.histories import AMOUNTS, ANY, Histories
from tests.splits.ledger import exact
from trips.roles import TripRole
from users.models import User

#: What is done with the money: pay a split, settle, delete a settlement, or follow the plan.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pay", "pay", "settle", "settle", "delete", "plan"]), ANY, ANY, AMOUNTS
    ),
    max_size=8,
)


class ScriptedHistory(Histories):
    """A history without rules of its own; hypothesis requires one."""

    @rule()
    def nothing(self) -> None:
        """Nothing happens."""


@contextmanager
def scripted_history(
    api: Api, members: list[User], admin: User, currency: str
) -> Iterator[ScriptedHistory]:
    """A new trip in that currency, whose first member is its owner; undone afterwards."""
    history = ScriptedHistory(api, members, admin)
    try:
        history.begin(currency)
        yield history
    finally:
        history.teardown()


@contextmanager
def history_with_guest(
    api: Api, members: list[User], admin: User, currency: str
) -> Iterator[tuple[ScriptedHistory, User]]:
    """The same with a guest, who is the last member."""
    guest = User.create_guest("Grandma")
    try:
        with scripted_history(api, [*members, guest], admin, currency) as history:
            history.ledger.trip.members.filter(user=guest).update(role=TripRole.VIEWER)
            yield history, guest
    finally:
        User.objects.filter(pk=guest.pk).delete()


def play(history: Histories, steps: Any) -> None:
    """Do what can be done of the steps; the audit is silent after each."""
    trip, admin = history.ledger.trip, history.admin
    for kind, first, second, amount in steps:
        if kind == "pay":
            splits = [
                split
                for expense in exact(history.send(admin, "get", "expenses?pageSize=100"))["items"]
                for split in expense["splits"]
            ]
            if splits:
                split = splits[first % len(splits)]
                action = "unpay" if second > 8 else "pay"
                path = f"/api/expenses/{split['expenseId']}/splits/{split['id']}/{action}"
                assert history.send(admin, "put", path).status_code == 200
        elif kind == "settle":
            users = sorted(history.users)
            sender = users[first % len(users)]
            receiver = [user for user in users if user != sender][second % (len(users) - 1)]
            body = {"fromUserId": sender, "toUserId": receiver, "amount": history.major(amount)}
            assert history.send(admin, "post", "settlements", body).status_code == 201
        elif kind == "delete":
            rows = history.ledger.settlements()
            if rows:
                delete(history, f"settlements/{rows[first % len(rows)]['id']}")
        else:
            plan = history.send(admin, "get", "settle-up")
            if exact(plan):
                tag = plan["ETag"].strip('"')
                assert history.send(admin, "post", "settle-up", {"tag": tag}).status_code == 201
        assert list(differences(trip.pk)) == []


def delete(history: Histories, path: str) -> bool:
    """Delete an entry; whether it was. A closing that used its credit has to be deleted first."""
    deleted = history.send(history.admin, "delete", path)
    assert deleted.status_code == 204 or problem_of(deleted, 409, "closes_trip")
    assert list(differences(history.ledger.trip.pk)) == []
    return deleted.status_code == 204
