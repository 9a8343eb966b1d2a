"""A thread that makes random moves: anybody tries anything, in a trip that all play in."""

import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from tests.soak.admin_client import AdminClient
from tests.soak.world import (
    CURRENCIES,
    PASSWORD,
    Client,
    Person,
    PlayedTrip,
    Request,
    World,
    amount,
)

_ROLES = ("OWNER", "EDITOR", "EDITOR", "VIEWER")
_TAGS = ("Fish", "paid in cash", "Ñandú")
#: Of the moves in a trip's life: while it is so young, its currency changes most.
_YOUTH = 40
_SHARE_IMPATIENT = 0.01
#: Nobody gives up in the end, so that the server is at rest when all have ended.
_PATIENT_SECONDS = 6
#: What these are about is not in the path of their requests.
_ABOUT_CALLER = ("member.joined", "member.left")
_ABOUT_ANOTHER = ("guest.merged", "split.added")
#: A request can succeed without any of these.
_MAY_CHANGE_NOTHING = ("member.role_changed", "invitation.revoked", "split.paid", "split.unpaid")


class Player:
    """Makes moves until `deadline`, a monotonic time. What it does depends on `seed` alone."""

    def __init__(
        self, world: World, client: Client, admin_client: AdminClient, closed_at: dict[int, float],
        seed: str, deadline: float,
    ) -> None:  # fmt: skip
        self._world, self._client, self._office = world, client, admin_client
        self._closed_at, self._deadline = closed_at, deadline
        self._random = random.Random(seed)

    def play(self) -> None:
        """Raises what no move expects."""
        moves, (young, grown) = [*MOVES], zip(*MOVES.values(), strict=True)
        while time.monotonic() < self._deadline:
            trip = self._world.pick(self._client, self._random)
            [move] = self._random.choices(moves, young if trip.moves < _YOUTH else grown)
            if isinstance(move, Move):
                self._make(move, trip)
            else:
                move(self, trip)

    def _make(self, move: "Move", trip: PlayedTrip) -> None:
        """Make a move with rows that there are; without them, do nothing."""
        rows: dict[str, Any] = {"trip": trip, "target": self._target(trip)}
        chosen: Any = None
        for name in re.findall(r"\{(\w+)", move.path):
            if name not in rows:
                if not trip.rows[name]:
                    return
                # One of the latest, which others are likely to choose too.
                rows[name] = self._random.choice(trip.rows[name][-6:])
            chosen = rows[name]
        caller = move.caller(self, trip)
        if move.event in _ABOUT_CALLER:
            chosen = caller
        object_id = chosen[0] if isinstance(chosen, tuple) else getattr(chosen, "id", chosen)
        request = Request(
            caller.id, move.method, move.path.format(**rows), None, move.event, trip.id
        )
        request.object_id = None if chosen is trip or move.event in _ABOUT_ANOTHER else object_id
        request.is_certain = move.event not in _MAY_CHANGE_NOTHING
        self.send(request, caller, trip, move.body and move.body(self, trip, request.marker))

    def send(self, request: Request, caller: Person, trip: PlayedTrip, body: Any = None) -> Any:
        """Send the request; keep what its answer tells of `trip`."""
        request.body = body
        is_impatient = self._random.random() < _SHARE_IMPATIENT
        is_impatient &= time.monotonic() < self._deadline - _PATIENT_SECONDS
        answer = self._client.send(request, caller, is_impatient=is_impatient)
        if not request.succeeded:
            return None
        if request.event == "member.added":
            request.object_id = body["userId"]
            person = next(one for one in trip.people if one.id == body["userId"])
            self._client.show_trip(person, trip.id)
        elif request.event == "guest.added":
            request.object_id = answer["user"]["id"]
        elif request.status == 201 and isinstance(answer, dict) and request.object_id is None:
            request.object_id = answer["id"]
        trip.currency = answer["currency"] if request.event == "trip.changed" else trip.currency
        trip.code = answer["tripCode"] if request.event == "trip.code_renewed" else trip.code
        _keep(trip.rows, request, answer)
        return answer

    # -- Who does what ----------------------------------------------------------------------------

    def anybody(self, trip: PlayedTrip) -> Person:
        return self._random.choice(trip.people)

    def manager(self, trip: PlayedTrip) -> Person:
        """Mostly the first owner, also the second, and anybody who may have been one."""
        people = [trip.chief, trip.people[1], self.anybody(trip)]
        return self._random.choices(people, [60, 20, 20])[0]

    def inviter(self, trip: PlayedTrip) -> Person:
        return self._random.choice([self.manager(trip), self.anybody(trip)])

    def spender(self, trip: PlayedTrip) -> Person:
        return self._random.choice([self.anybody(trip), *trip.spenders])

    def _target(self, trip: PlayedTrip) -> Person:
        """Somebody to be removed or given another role; the first owner rarely."""
        is_chief = self._random.random() < 0.03
        return trip.chief if is_chief else self._random.choice(trip.people[1:])

    def newcomer(self, trip: PlayedTrip) -> Person:
        return self._random.choice([self._target(trip), *trip.spenders])

    # -- What is sent -----------------------------------------------------------------------------

    def code(self, trip: PlayedTrip, marker: str) -> Any:
        return {"tripCode": trip.code}

    def name(self, trip: PlayedTrip, marker: str) -> Any:
        return {"name": marker}

    def trip_changes(self, trip: PlayedTrip, marker: str) -> Any:
        changes: dict[str, Any] = {"title": marker}
        if self._random.random() < 0.7:
            used = [one.currency for one in self._world.trips]
            changes["currency"] = self._random.choice([*CURRENCIES, *used, *used])
        if self._random.random() < 0.5:
            changes["budget"] = amount(self._random)
        if self._random.random() < 0.2:
            changes["joinRole"] = self._random.choice(["EDITOR", "VIEWER"])
        return changes

    def role(self, trip: PlayedTrip, marker: str) -> Any:
        return {"role": self._random.choice(_ROLES)}

    def member(self, trip: PlayedTrip, marker: str) -> Any:
        return {"userId": self._target(trip).id, **self.role(trip, marker)}

    def companion(self, trip: PlayedTrip, marker: str) -> Any:
        return {"userId": self._random.choice([*trip.named, self._target(trip).id])}

    def invitation(self, trip: PlayedTrip, marker: str) -> Any:
        body: dict[str, Any] = self.role(trip, marker)
        if self._random.random() < 0.5:
            body["maxUses"] = self._random.choice([1, 1, 2])
        if trip.rows["guest"] and self._random.random() < 0.6:
            body["guestUserId"] = self._random.choice(trip.rows["guest"][-6:])
        return body

    def expense(self, trip: PlayedTrip, marker: str) -> Any:
        body = self._division(trip)
        if self._random.random() < 0.2:
            body["currency"] = self._random.choice(CURRENCIES)
        return {"description": marker, "notes": marker, "expenseDate": "2026-05-15", **body}

    def expense_changes(self, trip: PlayedTrip, marker: str) -> Any:
        changes: list[dict[str, Any]] = [
            {},
            {"paidByUserId": self._random.choice(trip.spenders).id},
            {"amount": amount(self._random)},
            {"amount": f"-{amount(self._random)}"},
            {"tags": self._random.sample(_TAGS, 1)},
        ]
        return {"notes": marker, **self._random.choice(changes)}

    def _division(self, trip: PlayedTrip) -> dict[str, Any]:
        """Who paid an expense, its amount, and how it is divided, in each way."""
        spenders = trip.named
        participants = self._random.sample(spenders, self._random.randint(1, len(spenders)))
        weights = {str(user): self._random.randint(1, 5) for user in participants}
        figures = {str(user): self._random.choice([1, 2, -1]) for user in participants[:2]}
        sign = self._random.choice(["", "", "", "-"])
        whole, unit = f"{sign}{amount(self._random)}", f"{sign}1"
        item = {"name": "Fish", "amount": whole, "shares": weights}
        ways: list[dict[str, Any]] = [
            {"splitType": "EQUAL", "participantUserIds": participants},
            {"splitType": "SHARES", "splitAmounts": weights},
            {"splitType": "ADJUSTMENT", "splitAmounts": figures},
            {"splitType": "ITEMIZED", "items": [item], "tip": unit, "discount": unit},
        ]
        if self._random.random() < 0.2:
            payers = self._random.sample(spenders, 2)
            amounts = [self._random.randint(10, 99) for _payer in payers]
            rows = zip(payers, amounts, strict=True)
            paid = [{"userId": one, "amount": part} for one, part in rows]
            return {**self._random.choice(ways[:3]), "payers": paid, "amount": sum(amounts)}
        [way] = self._random.choices(ways, [5, 3, 2, 2])
        tags = self._random.sample(_TAGS, self._random.randint(0, len(_TAGS)))
        payer = self._random.choice(spenders)
        return {**way, "paidByUserId": payer, "amount": whole, "tags": tags}

    def split(self, trip: PlayedTrip, marker: str) -> Any:
        return {"participantUserId": self._random.choice(trip.spenders).id, "amount": 1.5}

    def payment(self, trip: PlayedTrip, marker: str) -> Any:
        sender, receiver = (person.id for person in self._random.sample(trip.spenders, 2))
        if trip.rows["guest"] and self._random.random() < 0.3:
            sender = self._random.choice(trip.rows["guest"][-2:])
        money = {"amount": amount(self._random), "note": marker}
        return {"fromUserId": sender, "toUserId": receiver, **money}

    # -- Moves of several requests ----------------------------------------------------------------

    def delete_trip(self, trip: PlayedTrip) -> None:
        """Delete the trip, and half of the time restore it."""
        for method, path, event in (
            ("DELETE", f"/trips/{trip.id}", "trip.deleted"),
            ("POST", f"/trips/{trip.id}/restore", "trip.restored"),
        ):
            caller = self.manager(trip)
            request = Request(caller.id, method, path, None, event, trip.id, trip.id)
            self.send(request, caller, trip)
            if self._random.random() < 0.5:
                break
        trip.moves = trip.moves if request.event == "trip.restored" else trip.life

    def bring_expense(self, trip: PlayedTrip) -> None:
        """Mostly to where it can go, by somebody who is likely to be a member of both trips."""
        target, rows = self._random.choice(self._world.trips), trip.rows["expense"]
        is_likely = target is not trip and target.currency == trip.currency
        if not rows or not (is_likely or self._random.random() < 0.2):
            return
        expense, action = self._random.choice(rows[-6:]), self._random.choice(["copy", "move"])
        caller = self._random.choice([trip.chief, target.chief, self.anybody(trip)])
        path, body = f"/trips/{trip.id}/expenses/{expense}/{action}", {"tripId": target.id}
        request = Request(caller.id, "POST", path, None, "expense.created", target.id)
        is_brought = self.send(request, caller, target, body)
        if action == "move":
            trip.rows["deleted_expense"] += [expense] * bool(is_brought)
            # What was moved is in one trip and no longer in the other.
            deleted = {"event": "expense.deleted", "trip_id": trip.id, "object_id": expense}
            self._client.requests.append(replace(request, **deleted))

    def record_plan(self, trip: PlayedTrip) -> None:
        """Read the plan, and record it as somebody who may be another."""
        path, caller = f"/trips/{trip.id}/settle-up", self.anybody(trip)
        if self.send(Request(caller.id, "GET", path), caller, trip) is not None:
            caller, tag = self._random.choice([trip.chief, self.spender(trip)]), self._client.etag
            request = Request(caller.id, "POST", path, None, "settlement.created", trip.id)
            made = self.send(request, caller, trip, {"tag": tag})
            request.is_certain = bool(made)

    def end_account(self, trip: PlayedTrip) -> None:
        """Close, delete or bar an account that is nobody's first owner, and open another."""
        person = self._random.choice(trip.people[4:])
        if self._random.random() < 0.75 or person not in self._world.people:
            return
        way = self._random.choice([self._close_account, self._office.delete, self._office.bar])
        if way(person):
            self._closed_at[person.id] = time.time()
            self._world.replace(person, self._client.register())

    def _close_account(self, person: Person) -> bool:
        request = Request(
            person.id, "DELETE", "/users/me", {"password": PASSWORD}, "member.left", 0, person.id,
            is_certain=False,
        )  # fmt: skip
        self._client.send(request, person)
        # Their invitations end, too.
        revoked = {"event": "invitation.revoked", "object_id": None}
        self._client.requests.append(replace(request, **revoked))
        return request.succeeded


def _keep(rows: dict[str, list[Any]], request: Request, answer: Any) -> None:
    """Keep the rows that `answer` shows among those of the trip, for later moves."""
    match request.event:
        case "expense.deleted" | "settlement.deleted":
            rows[f"deleted_{request.event.partition('.')[0]}"].append(request.object_id)
        case "guest.added":
            rows["guest"].append(request.object_id)
        case "invitation.created":
            rows["invitation"].append((answer["id"], answer["token"]))
        case "split.added":
            rows["split"].append((answer["id"], answer["expenseId"]))
        case "settlement.created" | "settlement.restored":
            made = answer if isinstance(answer, list) else [answer]
            rows["settlement"] += [row["id"] for row in made]
        case "expense.created" | "expense.changed" | "expense.restored":
            rows["expense"] += [answer["id"]] * (request.event != "expense.changed")
            rows["split"] += [(split["id"], answer["id"]) for split in answer["splits"]]


class Move(NamedTuple):
    """A request; `path` names the rows that it takes, and the event is about the last of them."""

    caller: Callable[[Player, PlayedTrip], Person]
    method: str
    path: str
    event: str
    body: Callable[[Player, PlayedTrip, str], Any] | None = None


_anybody, _manager, _inviter = Player.anybody, Player.manager, Player.inviter
_spender, _newcomer = Player.spender, Player.newcomer
_TRIP = "/trips/{trip.id}"
_PERSON, _GUEST = f"{_TRIP}/members/{{target.id}}", f"{_TRIP}/guests/{{guest}}"
_EXPENSE, _SPLIT = f"{_TRIP}/expenses/{{expense}}", "/expenses/{split[1]}/splits/{split[0]}"
_PAYMENT, _INVITED = f"{_TRIP}/settlements/{{settlement}}", f"{_TRIP}/invitations/{{invitation[0]}}"
_RESTORED = f"{_TRIP}/expenses/{{deleted_expense}}/restore"
_REPAID = f"{_TRIP}/settlements/{{deleted_settlement}}/restore"
_ACCEPTED = "/invitations/{invitation[1]}/accept"
#: What is done, and how often in a young trip and later.
MOVES: dict[Move | Callable[[Player, PlayedTrip], None], tuple[int, int]] = {
    Move(_manager, "PATCH", _TRIP, "trip.changed", Player.trip_changes): (30, 3),
    Move(_manager, "POST", f"{_TRIP}/code", "trip.code_renewed"): (3, 2),
    Move(_anybody, "POST", "/trips/join", "member.joined", Player.code): (6, 6),
    Move(_inviter, "POST", f"{_TRIP}/members", "member.added", Player.member): (14, 14),
    Move(_manager, "PUT", f"{_PERSON}/role", "member.role_changed", Player.role): (8, 10),
    Move(_manager, "DELETE", _PERSON, "member.removed"): (14, 14),
    Move(_newcomer, "POST", f"{_TRIP}/members/leave", "member.left"): (3, 3),
    Move(_anybody, "POST", f"{_TRIP}/guests", "guest.added", Player.name): (8, 5),
    Move(_anybody, "PUT", _GUEST, "guest.renamed", Player.name): (1, 3),
    Move(_manager, "DELETE", f"{_TRIP}/members/{{guest}}", "member.removed"): (2, 3),
    Move(_manager, "POST", f"{_GUEST}/merge", "guest.merged", Player.companion): (0, 4),
    Move(_inviter, "POST", f"{_TRIP}/invitations", "invitation.created", Player.invitation): (8, 8),
    Move(_anybody, "DELETE", _INVITED, "invitation.revoked"): (1, 3),
    Move(_newcomer, "POST", _ACCEPTED, "invitation.accepted"): (8, 14),
    Move(_anybody, "POST", f"{_TRIP}/expenses", "expense.created", Player.expense): (14, 24),
    Move(_anybody, "PATCH", _EXPENSE, "expense.changed", Player.expense_changes): (1, 11),
    Move(_anybody, "PUT", _EXPENSE, "expense.changed", Player.expense): (0, 3),
    Move(_anybody, "DELETE", _EXPENSE, "expense.deleted"): (6, 8),
    Move(_anybody, "POST", _RESTORED, "expense.restored"): (3, 8),
    Move(_anybody, "POST", "/expenses/{expense}/splits", "split.added", Player.split): (0, 6),
    Move(_spender, "DELETE", _SPLIT, "split.deleted"): (1, 6),
    Move(_spender, "PUT", f"{_SPLIT}/pay", "split.paid"): (0, 12),
    Move(_spender, "PUT", f"{_SPLIT}/unpay", "split.unpaid"): (0, 5),
    Move(_spender, "POST", f"{_TRIP}/settlements", "settlement.created", Player.payment): (16, 12),
    Move(_anybody, "DELETE", _PAYMENT, "settlement.deleted"): (4, 6),
    Move(_anybody, "POST", _REPAID, "settlement.restored"): (2, 6),
    Player.delete_trip: (0, 1),
    Player.bring_expense: (16, 44),
    Player.record_plan: (0, 10),
    Player.end_account: (0, 1),
}
