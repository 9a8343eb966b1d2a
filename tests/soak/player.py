"""A thread that makes random moves: anybody tries anything, in a trip that all play in."""

import time
from collections.abc import Callable
from typing import Any

from tests.soak.admin_client import AdminClient
from tests.soak.journal import Act, Journal
from tests.soak.people import PeopleMoves
from tests.soak.restoring import RestoringMoves
from tests.soak.world import CURRENCIES, PASSWORD, Client, Person, PlayedTrip, World, amount

_ROLES = ("OWNER", "EDITOR", "EDITOR", "VIEWER")
_TAGS = ("Fish", "paid in cash", "Ñandú")
#: Of the moves in a trip's life: while it is so young, its currency changes most.
_YOUTH = 40


class Player(PeopleMoves, RestoringMoves):
    """Makes moves until `deadline`, a monotonic time. What it does depends on `seed` alone."""

    def __init__(
        self, world: World, client: Client, journal: Journal, admin_client: AdminClient, seed: str,
        deadline: float,
    ) -> None:  # fmt: skip
        super().__init__(client, journal, seed, deadline)
        self._world, self._office = world, admin_client
        # How often each is made, in a young trip and later.
        self._moves: dict[Callable[[PlayedTrip], None], tuple[int, int]] = {
            self._change_trip: (30, 3),
            self._renew_code: (3, 2),
            self._delete_trip: (0, 1),
            self._join: (6, 6),
            self._add_member: (14, 14),
            self._change_role: (8, 10),
            self._remove_member: (14, 14),
            self._leave: (3, 3),
            self._record_expense: (14, 24),
            self._change_expense: (1, 14),
            self._delete_expense: (6, 8),
            self._copy_expense: (8, 20),
            self._move_expense: (8, 24),
            self._add_split: (0, 6),
            self._delete_split: (1, 6),
            self._pay: (0, 12),
            self._unpay: (0, 5),
            self._record_settlement: (16, 12),
            self._delete_settlement: (4, 6),
            self._record_plan: (0, 10),
            self._end_account: (0, 1),
            self._add_guest: (8, 5),
            self._rename_guest: (1, 3),
            self._remove_guest: (2, 3),
            self._merge_guest: (0, 4),
            self._invite: (8, 8),
            self._revoke_invitation: (1, 3),
            self._accept_invitation: (8, 14),
            self._restore_expense: (3, 8),
            self._restore_settlement: (2, 6),
        }

    def play(self) -> None:
        moves = list(self._moves)
        young, grown = zip(*self._moves.values(), strict=True)
        while time.monotonic() < self._deadline:
            trip = self._world.pick(self._client, self._random)
            weights = young if trip.moves < _YOUTH else grown
            [move] = self._random.choices(moves, weights)
            move(trip)

    # -- The trip and its members -----------------------------------------------------------------

    def _change_trip(self, trip: PlayedTrip) -> None:
        changes: dict[str, Any] = {}
        if self._random.random() < 0.7:
            used = [one.currency for one in self._world.trips]
            changes["currency"] = self._random.choice([*CURRENCIES, *used, *used])
        if self._random.random() < 0.5:
            changes["budget"] = amount(self._random)
        if self._random.random() < 0.2:
            changes["joinRole"] = self._random.choice(["EDITOR", "VIEWER"])
        shown = self._send(
            Act.CHANGE_TRIP, self._manager(trip), trip.id, "PATCH", f"/trips/{trip.id}",
            lambda marker: {"title": marker, **changes},
        )  # fmt: skip
        if shown:
            trip.currency = shown["currency"]

    def _renew_code(self, trip: PlayedTrip) -> None:
        path = f"/trips/{trip.id}/code"
        shown = self._send(Act.RENEW_CODE, self._manager(trip), trip.id, "POST", path)
        if shown:
            trip.code = shown["tripCode"]

    def _delete_trip(self, trip: PlayedTrip) -> None:
        if self._random.random() < 0.5:
            path = f"/trips/{trip.id}"
            self._send(Act.DELETE_TRIP, self._manager(trip), trip.id, "DELETE", path)
            is_back = self._random.random() < 0.5 and self._restore_trip(trip)
            trip.moves = trip.moves if is_back else trip.life

    def _restore_trip(self, trip: PlayedTrip) -> bool:
        path = f"/trips/{trip.id}/restore"
        shown = self._send(Act.RESTORE_TRIP, self._manager(trip), trip.id, "POST", path)
        return shown is not None

    def _join(self, trip: PlayedTrip) -> None:
        caller, body = self._anybody(trip), {"tripCode": trip.code}
        self._send(Act.JOIN, caller, (trip.id, caller.id), "POST", "/trips/join", body)

    def _add_member(self, trip: PlayedTrip) -> None:
        target, path = self._target(trip), f"/trips/{trip.id}/members"
        body = {"userId": target.id, "role": self._random.choice(_ROLES)}
        caller = self._random.choice([self._manager(trip), self._anybody(trip)])
        self._send(Act.ADD_MEMBER, caller, (trip.id, target.id), "POST", path, body)
        self._client.answer(target, trip.id)

    def _change_role(self, trip: PlayedTrip) -> None:
        target, body = self._target(trip), {"role": self._random.choice(_ROLES)}
        path = f"/trips/{trip.id}/members/{target.id}/role"
        key = (trip.id, target.id)
        self._send(Act.CHANGE_ROLE, self._manager(trip), key, "PUT", path, body)

    def _remove_member(self, trip: PlayedTrip) -> None:
        target = self._target(trip)
        key, path = (trip.id, target.id), f"/trips/{trip.id}/members/{target.id}"
        self._send(Act.REMOVE_MEMBER, self._manager(trip), key, "DELETE", path)

    def _leave(self, trip: PlayedTrip) -> None:
        caller = self._target(trip)
        path = f"/trips/{trip.id}/members/leave"
        self._send(Act.LEAVE, caller, (trip.id, caller.id), "POST", path)

    # -- Expenses and splits ----------------------------------------------------------------------

    def _people_of_expense(self, trip: PlayedTrip) -> dict[str, Any]:
        spenders = trip.named
        count = self._random.randint(1, len(spenders))
        participants = self._random.sample(spenders, count)
        people: dict[str, Any] = {"splitType": "EQUAL", "participantUserIds": participants}
        if self._random.random() < 0.3:
            weights = {str(user): self._random.randint(1, 5) for user in participants}
            people = {**people, "splitType": "SHARES", "splitAmounts": weights}
        elif self._random.random() < 0.2:
            figures = {str(user): self._random.choice([1, 2, -1]) for user in participants[:2]}
            people = {**people, "splitType": "ADJUSTMENT", "splitAmounts": figures}
        if self._random.random() < 0.2:
            payers = self._random.sample(spenders, 2)
            amounts = [self._random.randint(10, 99) for _payer in payers]
            rows = zip(payers, amounts, strict=True)
            people["payers"] = [{"userId": one, "amount": part} for one, part in rows]
            return {**people, "amount": sum(amounts)}
        people["tags"] = self._random.sample(_TAGS, self._random.randint(0, len(_TAGS)))
        payer = self._random.choice(spenders)
        sign = self._random.choice(["", "", "", "-"])
        whole, unit = f"{sign}{amount(self._random)}", f"{sign}1"
        if self._random.random() < 0.2:
            first = {str(participants[0]): unit}
            people = {**people, "splitType": "ADJUSTMENT", "splitAmounts": first}
        elif self._random.random() < 0.2:
            weights = {str(user): self._random.randint(1, 5) for user in participants}
            items = [{"name": "Fish", "amount": whole, "shares": weights}]
            people = {"splitType": "ITEMIZED", "items": items, "tip": unit, "discount": unit}
            people["tags"] = ["Fish"]
        return {**people, "paidByUserId": payer, "amount": whole}

    def _record_expense(self, trip: PlayedTrip) -> None:
        people = self._people_of_expense(trip)
        if self._random.random() < 0.2:
            people["currency"] = self._random.choice(CURRENCIES)
        shown = self._send(
            Act.RECORD_EXPENSE, self._anybody(trip), None,
            "POST", f"/trips/{trip.id}/expenses",
            lambda marker: {
                "description": marker, "notes": marker, "expenseDate": "2026-05-15", **people,
            },
        )  # fmt: skip
        if shown:
            trip.expenses.append(shown["id"])
            trip.splits += [(shown["id"], split["id"]) for split in shown["splits"]]

    def _change_expense(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.expenses)
        if expense is None:
            return
        caller, path = self._anybody(trip), f"/trips/{trip.id}/expenses/{expense}"
        whole = {"description": "Dinner", "expenseDate": "2026-05-16"}
        changes: dict[str, Any] = self._random.choice(
            [
                {},
                {"paidByUserId": self._random.choice(trip.spenders).id},
                {"amount": amount(self._random)},
                {"amount": f"-{amount(self._random)}"},
                {"tags": self._random.sample(_TAGS, 1)},
                {**whole, **self._people_of_expense(trip)},
            ]
        )
        method = "PUT" if "description" in changes else "PATCH"
        shown = self._send(
            Act.CHANGE_EXPENSE, caller, expense, method, path,
            lambda marker: {"notes": marker, **changes},
        )  # fmt: skip
        if shown:
            trip.splits += [(expense, split["id"]) for split in shown["splits"]]

    def _delete_expense(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.expenses)
        if expense is not None:
            path = f"/trips/{trip.id}/expenses/{expense}"
            self._send(Act.DELETE_EXPENSE, self._anybody(trip), expense, "DELETE", path)
            trip.deleted_expenses.append(expense)

    def _copy_expense(self, trip: PlayedTrip) -> None:
        self._bring_expense(Act.COPY_EXPENSE, trip, "copy")

    def _move_expense(self, trip: PlayedTrip) -> None:
        self._bring_expense(Act.MOVE_EXPENSE, trip, "move")

    def _bring_expense(self, act: Act, trip: PlayedTrip, action: str) -> None:
        """Mostly to where it can go, by somebody who is likely to be a member of both trips."""
        expense, target = self._one(trip.expenses), self._random.choice(self._world.trips)
        is_likely = target is not trip and target.currency == trip.currency
        if expense is None or not (is_likely or self._random.random() < 0.2):
            return
        caller = self._random.choice([trip.chief, target.chief, self._anybody(trip)])
        path, body = f"/trips/{trip.id}/expenses/{expense}/{action}", {"tripId": target.id}
        shown = self._send(act, caller, target.id, "POST", path, body, expense)
        if shown:
            trip.deleted_expenses += [expense] * (act is Act.MOVE_EXPENSE)
            target.expenses.append(shown["id"])
            target.splits += [(shown["id"], split["id"]) for split in shown["splits"]]

    def _add_split(self, trip: PlayedTrip) -> None:
        expense = self._one(trip.expenses)
        if expense is None:
            return
        body = {"participantUserId": self._random.choice(trip.spenders).id, "amount": 1.5}
        path = f"/expenses/{expense}/splits"
        shown = self._send(Act.ADD_SPLIT, self._anybody(trip), None, "POST", path, body, expense)
        if shown:
            trip.splits.append((expense, shown["id"]))

    def _delete_split(self, trip: PlayedTrip) -> None:
        self._on_split(Act.DELETE_SPLIT, trip, "DELETE")

    def _pay(self, trip: PlayedTrip) -> None:
        self._on_split(Act.PAY, trip, "PUT", "/pay")

    def _unpay(self, trip: PlayedTrip) -> None:
        self._on_split(Act.UNPAY, trip, "PUT", "/unpay")

    def _on_split(self, act: Act, trip: PlayedTrip, method: str, action: str = "") -> None:
        found = self._one(trip.splits)
        if found is not None:
            path = f"/expenses/{found[0]}/splits/{found[1]}{action}"
            caller = self._random.choice([self._anybody(trip), *trip.spenders])
            self._send(act, caller, found[1], method, path, expense=found[0])

    # -- Settlements and accounts -----------------------------------------------------------------

    def _record_settlement(self, trip: PlayedTrip) -> None:
        sender, receiver = self._random.sample(trip.spenders, 2)
        caller = self._random.choice([sender, receiver, self._anybody(trip)])
        from_id, to_id = sender.id, receiver.id
        if trip.guests and self._random.random() < 0.3:
            from_id = self._random.choice(trip.guests[-2:])
        body = {"fromUserId": from_id, "toUserId": to_id, "amount": amount(self._random)}
        shown = self._send(
            Act.RECORD_SETTLEMENT, caller, None, "POST", f"/trips/{trip.id}/settlements",
            lambda marker: {**body, "note": marker},
        )  # fmt: skip
        if shown:
            trip.settlements.append(shown["id"])

    def _delete_settlement(self, trip: PlayedTrip) -> None:
        settlement = self._one(trip.settlements)
        if settlement is not None:
            caller, path = self._anybody(trip), f"/trips/{trip.id}/settlements/{settlement}"
            self._send(Act.DELETE_SETTLEMENT, caller, settlement, "DELETE", path)
            trip.deleted_settlements.append(settlement)

    def _record_plan(self, trip: PlayedTrip) -> None:
        path = f"/trips/{trip.id}/settle-up"
        shown = self._send(Act.READ_PLAN, self._anybody(trip), None, "GET", path)
        if shown is not None:
            tag = {"tag": self._client.etag}
            caller = self._random.choice([trip.chief, *trip.spenders, self._anybody(trip)])
            made = self._send(Act.RECORD_PLAN, caller, trip.id, "POST", path, tag)
            trip.settlements += [row["id"] for row in made or ()]

    def _end_account(self, trip: PlayedTrip) -> None:
        """Close, delete or bar an account that is nobody's first owner, and open another."""
        person = self._random.choice(trip.people[4:])
        if self._random.random() < 0.75 or person not in self._world.people:
            return
        way = self._random.choice([self._close_account, self._office.delete, self._office.bar])
        if way(person):
            self._journal.closed_at[person.id] = time.time()
            self._world.replace(person, self._client.register())

    def _close_account(self, person: Person) -> bool:
        request = self._client.request(Act.CLOSE_ACCOUNT, person, person.id)
        self._client.send(request, person, "DELETE", "/users/me", {"password": PASSWORD})
        return request.succeeded
