"""A copy that is kept by `/api/changes` is what the lists show, after any history.

Others act between its pages, whatever their size, and it may apply only a part of a page.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from plugins.sync import delivery, touched
from plugins.sync.tests.client import Replica, lists
from tests.splits.undoing import KINDS, History
from tests.trips.bodies import lisbon
from trips.models import note_answer
from users.models import User

STEPS = 60
#: What clients count anew, as `docs/changes.md` says.
DERIVED = {
    *("dayIndex", "expenseIds", "cost", "activities", ("day", "completed")),
    *("wanted", "attached", "missing", "count", "complete"),
}


class World:
    """People who act at random; most of what they try is allowed."""

    def __init__(self, seed, api, people):
        self.random = random.Random(seed)
        self.people, self.clients = people, {user.pk: api(user) for user in people}
        self.trips: list[int] = []
        self.deleted: list[int] = []
        #: Ids of all that there ever was, by trip and kind.
        self.made: dict[tuple[int, str], list[int]] = {}
        self.codes: dict[int, str] = {}
        self.guests: dict[int, list[int]] = {}
        self.tokens: list[str] = []
        #: What happened, by event, so that the test can tell that it is a good one.
        self.done: set[str] = set()
        self.acts: list[tuple[Callable[[int], None], int]] = [
            (self.spend, 8), (self.change_expense, 3), (self.move_money, 2),
            (self.delete_expense, 2), (self.restore_expense, 2), (self.add_split, 1),
            (self.delete_split, 1), (self.pay, 4), (self.unpay, 3), (self.settle, 3),
            (self.delete_settlement, 3), (self.restore_settlement, 2), (self.settle_up, 3),
            (self.comment, 3), (self.change_comment, 1), (self.delete_comment, 1),
            (self.invite, 2), (self.revoke, 1), (self.accept, 2), (self.change_role, 2),
            (self.leave, 2), (self.remove, 2), (self.join, 5), (self.add_guest, 1),
            (self.rename_guest, 1), (self.merge, 1), (self.change_trip, 1),
            (self.renew_code, 1), (self.start_trip, 1), (self.delete_trip, 1),
            (self.restore_trip, 1),
        ]  # fmt: skip

    def step(self):
        acts, weights = zip(*self.acts, strict=True)
        [act] = self.random.choices(acts, weights)
        if not self.trips:
            act = self.start_trip
        trip = self.random.choice(self.trips) if self.trips else 0
        act(trip)

    # -- Requests ---------------------------------------------------------------------------------

    def send(self, method, path, body=None, by=None):
        """The answer, or None if it was refused. Mostly by Olga, who owns the trips."""
        sender = by or self.random.choice([self.people[0], *self.people])
        response = getattr(self.clients[sender.pk], method)(f"/api/{path}", body)
        assert response.status_code < 500, response.content
        if response.status_code >= 300:
            return None
        self.done.add(f"{method} {path.split('/')[-1 if path[-1].isalpha() else -2]}")
        return response.json() if response.content else {}

    def one(self, trip, kind):
        return self.random.choice(self.made.get((trip, kind)) or [0])

    def keep(self, trip, kind, answer):
        if answer:
            self.made.setdefault((trip, kind), []).append(answer["id"])

    def person(self, trip):
        everybody = [user.pk for user in self.people[:3]] + self.guests.get(trip, [])
        return self.random.choice(everybody)

    # -- Acts -------------------------------------------------------------------------------------

    def start_trip(self, _trip):
        if len(self.trips) < 3:
            answer = self.send("post", "trips", lisbon(), by=self.people[0])
            self.trips.append(answer["id"])
            self.codes[answer["id"]] = answer["tripCode"]
            for user in self.people[1:3]:
                self.add(answer["id"], user)

    def add(self, trip, user):
        body = {"userId": user.pk, "role": self.random.choice(["EDITOR", "OWNER", "VIEWER"])}
        self.send("post", f"trips/{trip}/members", body, by=self.people[0])
        # The feed does not say that their address is shown from now on.
        note_answer(user, trip)

    def delete_trip(self, trip):
        if self.random.random() < 0.3 and self.send("delete", f"trips/{trip}") is not None:
            self.trips.remove(trip)
            self.deleted.append(trip)

    def restore_trip(self, _trip):
        if self.deleted:
            trip = self.random.choice(self.deleted)
            if self.send("post", f"trips/{trip}/restore") is not None:
                self.deleted.remove(trip)
                self.trips.append(trip)

    def change_trip(self, trip):
        self.send("patch", f"trips/{trip}", {"title": self.random.choice(["Porto", "Faro"])})

    def renew_code(self, trip):
        if answer := self.send("post", f"trips/{trip}/code"):
            self.codes[trip] = answer["tripCode"]

    def join(self, trip):
        user = self.random.choice(self.people)
        if self.random.random() < 0.5:
            self.send("post", "trips/join", {"tripCode": self.codes[trip]}, by=user)
        else:
            self.add(trip, user)

    def leave(self, trip):
        self.send("post", f"trips/{trip}/members/leave")

    def remove(self, trip):
        self.send("delete", f"trips/{trip}/members/{self.person(trip)}")

    def change_role(self, trip):
        role = self.random.choice(["OWNER", "EDITOR", "VIEWER"])
        self.send("put", f"trips/{trip}/members/{self.person(trip)}/role", {"role": role})

    def add_guest(self, trip):
        if answer := self.send("post", f"trips/{trip}/guests", {"name": "Grandma"}):
            self.guests.setdefault(trip, []).append(answer["user"]["id"])

    def rename_guest(self, trip):
        name = self.random.choice(["Granny", "Nonna"])
        self.send("put", f"trips/{trip}/guests/{self.person(trip)}", {"name": name})

    def merge(self, trip):
        path = f"trips/{trip}/guests/{self.person(trip)}/merge"
        self.send("post", path, {"userId": self.person(trip)})

    def invite(self, trip):
        body: dict[str, Any] = {"role": "VIEWER"}
        if self.guests.get(trip) and self.random.random() < 0.5:
            body["guestUserId"] = self.random.choice(self.guests[trip])
        if answer := self.send("post", f"trips/{trip}/invitations", body):
            self.keep(trip, "invitation", answer)
            self.tokens.append(answer["token"])

    def revoke(self, trip):
        self.send("delete", f"trips/{trip}/invitations/{self.one(trip, 'invitation')}")

    def accept(self, _trip):
        if self.tokens:
            self.send("post", f"invitations/{self.random.choice(self.tokens)}/accept")

    def spend(self, trip):
        self.send("post", f"trips/{trip}/members", {"userId": self.people[1].pk, "role": "OWNER"})
        note_answer(self.people[1], trip)
        people = list({self.person(trip) for _person in range(3)})
        body = {
            "description": "Dinner", "amount": self.random.randint(1, 9), "splitType": "EQUAL",
            "expenseDate": "2026-05-14", "participantUserIds": people,
            "paidByUserId": self.person(trip),
        }  # fmt: skip
        self.keep(trip, "expense", self.send("post", f"trips/{trip}/expenses", body))

    def expense(self, trip):
        return f"trips/{trip}/expenses/{self.one(trip, 'expense')}"

    def change_expense(self, trip):
        notes = self.random.choice(["Tasty.", "Cold."])
        self.send("patch", self.expense(trip), {"notes": notes})

    def move_money(self, trip):
        self.send("patch", self.expense(trip), {"amount": self.random.randint(1, 9)})

    def delete_expense(self, trip):
        self.send("delete", self.expense(trip))

    def restore_expense(self, trip):
        for expense in self.made.get((trip, "expense"), []):
            self.send("post", f"trips/{trip}/expenses/{expense}/restore")

    def split(self, trip):
        expense = self.one(trip, "expense")
        splits = self.send("get", f"expenses/{expense}/splits") or [{"id": 0}]
        return f"expenses/{expense}/splits/{self.random.choice(splits)['id']}"

    def add_split(self, trip):
        body = {"participantUserId": self.person(trip), "amount": 1}
        self.send("post", f"expenses/{self.one(trip, 'expense')}/splits", body)

    def delete_split(self, trip):
        self.send("delete", self.split(trip))

    def pay(self, trip):
        self.send("put", f"{self.split(trip)}/pay")

    def unpay(self, trip):
        self.send("put", f"{self.split(trip)}/unpay")

    def settle(self, trip):
        body = {
            "fromUserId": self.person(trip), "toUserId": self.person(trip),
            "amount": self.random.randint(1, 9),
            "settledOn": f"2026-05-{self.random.randint(1, 9):02}",
        }  # fmt: skip
        self.keep(trip, "settlement", self.send("post", f"trips/{trip}/settlements", body))

    def delete_settlement(self, trip):
        rows = self.send("get", f"trips/{trip}/settlements")
        ids = [row["id"] for row in rows["items"]] if rows else []
        if ids:
            gone = self.random.choice(ids)
            self.send("delete", f"trips/{trip}/settlements/{gone}")
            self.keep(trip, "settlement", {"id": gone})

    def restore_settlement(self, trip):
        for settlement in self.made.get((trip, "settlement"), []):
            self.send("post", f"trips/{trip}/settlements/{settlement}/restore")

    def settle_up(self, trip):
        owner = self.people[0]
        plan = self.clients[owner.pk].get(f"/api/trips/{trip}/settle-up")
        if plan.status_code == 200:
            self.send("post", f"trips/{trip}/settle-up", {"tag": plan["ETag"].strip('"')}, by=owner)

    def comment(self, trip):
        path = f"expenses/{self.one(trip, 'expense')}/comments"
        answer = self.send("post", path, {"text": "Tasty."})
        if answer:
            self.made.setdefault((trip, "comment"), []).append((answer["expenseId"], answer["id"]))

    def written(self, trip):
        expense, comment = self.random.choice(self.made.get((trip, "comment")) or [(0, 0)])
        return f"expenses/{expense}/comments/{comment}"

    def change_comment(self, trip):
        text = self.random.choice(["Cold.", "Tasty."])
        self.send("put", self.written(trip), {"text": text})

    def delete_comment(self, trip):
        self.send("delete", self.written(trip))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_copy_ends_with_what_the_lists_show(api, olga, ed, vera, sam, seed, monkeypatch):
    """T173: A copy that is kept by changes ends with what the lists show."""
    if seed % 2:
        monkeypatch.setattr(touched, "MAX_TOUCHED", 1)
        monkeypatch.setattr(delivery, "_SEARCHED", 2)
    User.objects.update(email_verified_at=timezone.now())
    world = World(seed, api, [olga, ed, vera, sam])
    for _step in range(15):
        world.step()
    copies = [Replica(api(vera)), Replica(api(ed))]
    for step in range(STEPS):
        world.step()
        for copy in copies:
            if world.random.random() < 0.4:
                part = world.random.choice([None, None, 0, 1, 3])
                copy.read(world.random.choice([1, 2, 3, 7, 50]), stop_after=part)
        if step % 15 == 14:
            for copy in copies:
                copy.catch_up(world.random.choice([1, 2, 5, 100]))
                assert differences(copy.shown(), lists(copy.client)) == []
    assert len(world.done) > 10


@pytest.mark.slow
def test_who_follows_has_what_comes_as_a_whole_later(api, olga, ed, vera, ada):
    """Also rows of plugins, and what depends on rows that were deleted and restored."""
    copy, late, chance = Replica(api(olga)), Replica(api(olga)), random.Random(3)
    history = History(api, [olga, ed, vera], ada)
    for _step in range(60):
        history.spend(chance.randrange(1, 9), {0: 1, 3: 2}, {1: 1})
        history.beside(chance.randrange(99), chance.randrange(12))
        kind = chance.choice(KINDS)
        if row := history.pick(kind, chance.randrange(12)):
            history.send("delete", f"{kind}/{row['id']}")
            copy.read()
            if chance.random() < 0.6:
                history.send("post", f"{kind}/{row['id']}/restore")
    copy.catch_up()
    # The trip is new to its cursor.
    late.catch_up()
    assert differences(*map(without_derived, (copy.shown(), late.shown()))) == []


def without_derived(rows):
    return {
        key: {n: value for n, value in row.items() if not {n, (key[1], n)} & DERIVED}
        for key, row in rows.items()
    }


def differences(one, other):
    """What differs, with its fields that do."""
    different = []
    for key in sorted(one.keys() | other.keys()):
        mine, theirs = one.get(key), other.get(key)
        if mine and theirs:
            fields = [name for name in mine if mine[name] != theirs[name]]
            different += [(key, name, mine[name], theirs[name]) for name in fields]
        elif mine != theirs:
            different.append((key, mine, theirs))
    return different
