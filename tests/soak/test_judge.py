"""What the judge of the soak finds: each law, broken once in a journal that is made up."""

import pytest

from tests.soak.judge import Judge, Row
from tests.soak.world import Request

pytestmark = pytest.mark.once

OLGA, ED, VERA, SAM, ADA = 1, 2, 3, 4, 5
NO_RIGHT, NOBODY = "The author had no right to this.", "Nobody asked for this."
FAILED, LOST = "The server failed.", "A request that succeeded wrote nothing."
ANOTHER = "Another amount was meant than 12.35 EUR."


def story(*steps, closed=()):
    """The findings after `steps`: who does what to which object, what changes, and how.

    Olga starts trip 7 in euros, and adds Ed as an EDITOR and Vera as a VIEWER. Each row was asked
    for a second before and answered with 200 a second after, unless its step says otherwise.
    """
    started = {"currency": "EUR", "joinRole": "VIEWER"}
    first = (
        (OLGA, "trip.created", 7, started),
        (OLGA, "member.joined", OLGA, {"role": "OWNER"}, {"at": 9, "unasked": True}),
        (OLGA, "member.added", ED, {"role": "EDITOR"}),
        (OLGA, "member.added", VERA, {"role": "VIEWER"}),
    )
    rows, requests = [], []
    for number, (by, event, object_id, changes, *more) in enumerate((*first, *steps), 1):
        how = more[0] if more else {}
        at = how.get("at", number * 9)
        request = Request(by, "", "", how.get("body"), event, 7, object_id)
        request.started, request.ended, request.status = at - 1, at + 1, how.get("status", 200)
        if how.get("marked"):
            request.body = {"notes": request.marker}
        new = {name: {"old": None, "new": value} for name, value in changes.items()}
        row = Row(7, number, at, by, how.get("via", "session"), event, object_id, new)
        rows += [] if how.get("lost") else [row]
        requests += [] if how.get("unasked") else [request]
    found = Judge(requests, dict(closed), [ADA]).run(rows)
    return [text.partition("\n")[0].partition(" (")[0] for text in found]


DINNER = {"amount": 12.35, "currency": "EUR"}
INVITED = (ED, "invitation.created", 8, {"role": "EDITOR", "maxUses": 1})
ACCEPTED = (SAM, "invitation.accepted", 8, {})
DEMOTED = (OLGA, "member.role_changed", ED, {"role": "VIEWER"})
SPENT = (ED, "expense.created", 5, DINNER)
IN_YEN = (OLGA, "trip.changed", 7, {"currency": "JPY"})
DELETED, RESTORED = (OLGA, "trip.deleted", 7, {}), (OLGA, "trip.restored", 7, {})


@pytest.mark.parametrize(
    ("steps", "findings"),
    [
        ([SPENT, (ED, "split.paid", 6, {}), INVITED, ACCEPTED, DEMOTED], []),
        ([DEMOTED, SPENT], [NO_RIGHT]),
        ([(OLGA, "member.removed", ED, {}), SPENT], [NO_RIGHT]),
        ([(ED, "member.left", ED, {}), SPENT], [NO_RIGHT]),
        ([(ED, "member.left", VERA, {})], [NO_RIGHT]),
        ([(ED, "trip.changed", 7, {"title": "Mine"})], [NO_RIGHT]),
        ([(ED, "member.role_changed", ED, {"role": "OWNER"})], [NO_RIGHT]),
        ([(ED, "member.added", SAM, {"role": "OWNER"})], [NO_RIGHT]),
        ([(ED, "invitation.created", 8, {"role": "OWNER"})], [NO_RIGHT]),
        ([(SAM, "member.joined", SAM, {"role": "VIEWER"})], []),
        ([(SAM, "member.joined", SAM, {"role": "EDITOR"})], [NO_RIGHT]),
        ([INVITED, ACCEPTED, ACCEPTED], [NO_RIGHT]),
        ([INVITED, DEMOTED, ACCEPTED], [NO_RIGHT]),
        ([INVITED, (OLGA, "invitation.revoked", 8, {}), ACCEPTED], [NO_RIGHT]),
        ([INVITED, DEMOTED, (ED, "invitation.revoked", 8, {})], []),
        ([INVITED, (VERA, "invitation.revoked", 8, {})], [NO_RIGHT]),
        ([DELETED, SPENT], [NO_RIGHT]),
        ([DELETED, RESTORED, SPENT], []),
        ([INVITED, DELETED, (ED, "invitation.revoked", 8, {})], []),
        ([(ADA, "trip.changed", 7, {}), (ADA, "member.removed", ED, {}, {"via": "admin"})], []),
        ([(*SPENT, {"unasked": True})], [NOBODY]),
        ([(*SPENT, {"status": 409})], ["A request that was refused wrote this."]),
        ([(*SPENT, {"marked": True})], [NOBODY, LOST]),
        ([(*SPENT, {"body": {"amount": "12.346"}})], []),
        ([(*SPENT, {"body": {"amount": 12.36}})], [ANOTHER]),
        ([(*SPENT, {"body": {"amount": 12.35, "currency": "USD"}})], [ANOTHER]),
        ([SPENT, IN_YEN], ["The currency changed under recorded money."]),
        ([SPENT, (ED, "expense.deleted", 5, {}), IN_YEN], []),
        ([(*SPENT, {"lost": True})], [LOST]),
        ([(*SPENT, {"lost": True, "status": 503})], []),
        ([(*SPENT, {"lost": True, "status": 500})], [FAILED]),
    ],
)  # fmt: skip
def test_each_law_that_is_broken_is_found(steps, findings):
    assert story(*steps) == findings


def test_a_closed_account_is_neither_served_nor_writes():
    assert story(SPENT, closed={ED: 43}) == [
        "A closed account wrote this.",
        "A closed account was served.",
    ]
