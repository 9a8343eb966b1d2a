"""Many people who want the same at once: the last use of an invitation, the place of a guest."""

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, NamedTuple

import httpx

from chaos.environment import Environment
from chaos.writers import PASSWORD, Journal

_THREADS = 50
_ROUNDS = 3
_TIMEOUT_SECONDS = 60
#: The service is busy; the client may try again.
_BUSY = {503, 504}


class Call(NamedTuple):
    """A request that somebody sends."""

    token: str
    method: str
    path: str
    body: Any = None


def an_invitation_is_accepted_by_many(environment: Environment) -> Journal:
    """F34: 50 accounts accept the last use of an invitation at once; one is admitted."""
    scene = environment.scene
    trip = f"/trips/{scene.trip_id}"
    with environment.load(timeout_seconds=30) as journal:
        tokens = _accounts(environment)
        for _round in range(_ROUNDS):
            invitation = _done(environment, "POST", f"{trip}/invitations", {"maxUses": 1})
            path = f"/invitations/{invitation['token']}/accept"
            before = len(_done(environment, "GET", f"{trip}/members"))
            answers = _at_once(environment, [Call(token, "POST", path) for token in tokens])
            counts = Counter(answer.status_code for answer in answers)
            admitted = len(_done(environment, "GET", f"{trip}/members")) - before
            environment.require(counts[201] == admitted == 1, f"admitted {admitted}: {counts}")
            # 409: who was admitted before.
            environment.require(counts.keys() <= {201, 404, 409, *_BUSY}, f"answers: {counts}")
        journal.mark()
    environment.note(f"{_ROUNDS} of {_ROUNDS * _THREADS} admitted")
    return journal


def a_guest_is_wanted_by_many(environment: Environment) -> Journal:
    """F35: a guest is claimed, merged, removed, paid and restored from 50 threads at once."""
    scene, taken = environment.scene, 0
    trip, owner = f"/trips/{scene.trip_id}", scene.tokens[0]
    with environment.load(timeout_seconds=30) as journal:
        for _round in range(_ROUNDS):
            guest = _done(environment, "POST", f"{trip}/guests", {"name": "Ruth"})["user"]["id"]
            shared = {
                "description": "Boat", "amount": 90, "expenseDate": "2026-05-15",
                "splitType": "EQUAL", "participantUserIds": [scene.user_ids[0], guest],
                "payers": [{"userId": guest, "amount": 50},
                           {"userId": scene.user_ids[0], "amount": 40}],
            }  # fmt: skip
            expenses = f"{trip}/expenses"
            expense = f"{expenses}/{_done(environment, 'POST', expenses, shared)['id']}"
            invitation = _done(environment, "POST", f"{trip}/invitations", {"guestUserId": guest})
            accept = f"/invitations/{invitation['token']}/accept"
            merge = f"{trip}/guests/{guest}/merge"
            handed = {"fromUserId": guest, "toUserId": scene.user_ids[0], "amount": 7}
            takes = [
                *(Call(token, "POST", accept) for token in scene.tokens[1:]),
                *(Call(owner, "POST", merge, {"userId": user}) for user in scene.user_ids[1:]),
            ]
            others = [
                Call(owner, "POST", f"{trip}/settlements", handed),
                Call(owner, "POST", expenses, shared),
                Call(owner, "PATCH", expense, {"amount": 90, "description": "Ship"}),
                Call(owner, "DELETE", expense),
                Call(owner, "POST", f"{expense}/restore"),
                Call(owner, "DELETE", f"{trip}/members/{guest}"),
                Call(scene.tokens[3], "POST", f"{trip}/members/leave"),
            ]
            calls = [*takes, *others * 7][:_THREADS]
            answers = _at_once(environment, calls)
            codes = {answer.status_code for answer in answers}
            faults = codes - _BUSY - {200, 201, 204, 400, 404, 409}
            environment.require(not faults, f"answers: {sorted(codes)}")
            successes = sum(answer.is_success for answer in answers[: len(takes)])
            environment.require(successes <= 1, f"the guest was taken {successes} times")
            taken += successes
            _readmit(environment)
            rows = _done(environment, "GET", f"{trip}/balances")
            sum_minor = sum(round(row["balance"] * 100) for row in rows)
            environment.require(sum_minor == 0, f"the balances add up to {sum_minor}")
        journal.mark()
    environment.note(f"{taken} of {_ROUNDS} guests taken, each once")
    return journal


def _readmit(environment: Environment) -> None:
    """Add whoever left again, because the writers name them."""
    scene = environment.scene
    path = f"/trips/{scene.trip_id}/members"
    present = {row["user"]["id"] for row in _done(environment, "GET", path)}
    for user_id in set(scene.user_ids) - present:
        _done(environment, "POST", path, {"userId": user_id, "role": "EDITOR"})


def _accounts(environment: Environment) -> list[str]:
    """The tokens of new accounts, one after the other: hashing passwords takes long."""
    emails = [f"p{uuid.uuid4().hex}@example.com" for _number in range(_THREADS)]
    bodies = [{"email": email, "password": PASSWORD} for email in emails]
    return [_done(environment, "POST", "/users/register", body)["token"] for body in bodies]


def _send(environment: Environment, call: Call) -> httpx.Response:
    headers = {"Authorization": f"Bearer {call.token}"} if call.token else {}
    url = f"{environment.scene.url}/api{call.path}"
    return httpx.request(
        call.method, url, json=call.body, headers=headers, timeout=_TIMEOUT_SECONDS
    )


def _done(environment: Environment, method: str, path: str, body: Any = None) -> Any:
    """The JSON of what the first of the writers asks for."""
    call = Call(environment.scene.tokens[0], method, path, body)
    for _time in range(10):
        answer = _send(environment, call)
        if answer.status_code not in _BUSY:
            break
    return answer.raise_for_status().json()


def _at_once(environment: Environment, calls: list[Call]) -> list[httpx.Response]:
    barrier = Barrier(len(calls))

    def run(call: Call) -> httpx.Response:
        barrier.wait()
        return _send(environment, call)

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
