"""What the judge of the soak finds, and what it lets pass."""

import json

import pytest

from tests.document import usual_plugins
from tests.soak.journal import Act, Journal
from tests.soak.judge import Judge
from tests.soak.log import Entry
from tests.trips.rows import ROWS

pytestmark = pytest.mark.once

TRIP, OTHER, OLGA, ED, VERA, SAM = 1, 2, 11, 12, 13, 15


IN_TRIP = "/api/trips/{trip_id}"
EXPENSE = f"{IN_TRIP}/expenses/{{expense_id}}"
SETTLEMENT = f"{IN_TRIP}/settlements/{{settlement_id}}"
MEMBER, GUEST = f"{IN_TRIP}/members/{{user_id}}", f"{IN_TRIP}/guests/{{user_id}}"
SPLITS = "/api/expenses/{expense_id}/splits"
#: The requests of the soak in a trip.
REQUESTS = {
    Act.CHANGE_TRIP: f"PATCH {IN_TRIP}",
    Act.RENEW_CODE: f"POST {IN_TRIP}/code",
    Act.DELETE_TRIP: f"DELETE {IN_TRIP}",
    Act.RESTORE_TRIP: f"POST {IN_TRIP}/restore",
    Act.ADD_MEMBER: f"POST {IN_TRIP}/members",
    Act.CHANGE_ROLE: f"PUT {MEMBER}/role",
    Act.REMOVE_MEMBER: f"DELETE {MEMBER}",
    Act.LEAVE: f"POST {IN_TRIP}/members/leave",
    Act.ADD_GUEST: f"POST {IN_TRIP}/guests",
    Act.RENAME_GUEST: f"PUT {GUEST}",
    Act.MERGE_GUEST: f"POST {GUEST}/merge",
    Act.INVITE: f"POST {IN_TRIP}/invitations",
    Act.REVOKE_INVITATION: f"DELETE {IN_TRIP}/invitations/{{invitation_id}}",
    Act.RECORD_EXPENSE: f"POST {IN_TRIP}/expenses",
    Act.CHANGE_EXPENSE: f"PUT {EXPENSE}",
    Act.DELETE_EXPENSE: f"DELETE {EXPENSE}",
    Act.RESTORE_EXPENSE: f"POST {EXPENSE}/restore",
    Act.COPY_EXPENSE: f"POST {EXPENSE}/copy",
    Act.MOVE_EXPENSE: f"POST {EXPENSE}/move",
    Act.ADD_SPLIT: f"POST {SPLITS}",
    Act.DELETE_SPLIT: f"DELETE {SPLITS}/{{split_id}}",
    Act.PAY: f"PUT {SPLITS}/{{split_id}}/pay",
    Act.UNPAY: f"PUT {SPLITS}/{{split_id}}/unpay",
    Act.RECORD_SETTLEMENT: f"POST {IN_TRIP}/settlements",
    Act.RECORD_PLAN: f"POST {IN_TRIP}/settle-up",
    Act.DELETE_SETTLEMENT: f"DELETE {SETTLEMENT}",
    Act.RESTORE_SETTLEMENT: f"POST {SETTLEMENT}/restore",
    Act.READ_PLAN: f"GET {IN_TRIP}/settle-up",
}


@usual_plugins
def test_the_judge_asks_for_the_capability_that_the_api_asks_for():
    needed = {str(row): row.can for row in ROWS}
    asked = {act: act.can for act in Act if act.can is not None}
    assert asked == {act: needed[request] for act, request in REQUESTS.items()}


class History:
    """A trip of Olga, Ed and Vera in EUR, and what happens in it, a second apart."""

    def __init__(self, transactions):
        self.journal = Journal()
        self.entries: list[Entry] = []
        self._has_transactions = transactions
        self.trip = self.starts(TRIP)

    def starts(self, trip, currency="EUR", ed="EDITOR"):
        """The row of a new trip of the three, in which Ed has this role."""
        soon = len(self.entries) + 2
        started = self.asks(Act.START_TRIP, OLGA, None, {}, 201, ended=soon)
        row = {"title": started.marker, "code": "A", "join_role": "EDITOR"}
        row = {**row, "currency": currency, "budget_minor": None}
        self.log("trips_trip", trip, None, row, trip=trip)
        for user, role in ((OLGA, "OWNER"), (ED, ed), (VERA, "VIEWER")):
            if user != OLGA:
                self.asks(Act.ADD_MEMBER, OLGA, (trip, user), {"userId": user, "role": role})
            self.log("trips_member", user, None, self.member(user, role), trip=trip)
        return row

    def member(self, user, role, left_at=None):
        return {"trip_id": TRIP, "user_id": user, "role": role, "left_at": left_at}

    def asks(self, act, caller, key, body, status=200, **times):
        """A request during which the next entry is written."""
        request = self.journal.new(act, caller, key)
        request.body, request.status = body, status
        request.started = times.get("started", len(self.entries) - 0.5)
        request.ended = times.get("ended", len(self.entries) + 0.5)
        return request

    def log(
        self, table, row, old, new, transaction = None,
        trip = TRIP,
    ):  # fmt: skip
        """An entry, in a transaction of its own unless one is given."""
        operation = "UPDATE" if old and new else "INSERT" if new else "DELETE"
        number = len(self.entries)
        named = (transaction or number) if self._has_transactions else None
        self.entries.append(Entry(number, named, number, table, operation, row, old, new, trip))

    def removes(self, user, role):
        self.asks(Act.REMOVE_MEMBER, OLGA, (TRIP, user), {})
        self.log("trips_member", user, self.member(user, role), self.member(user, role, "now"))

    def settles(self, caller, amount_minor, **asked):
        """Somebody records that Ed handed 12.345 to Olga, which they asked for before."""
        body = {"amount": "12.345"}
        request = self.asks(Act.RECORD_SETTLEMENT, caller, None, body, **{"status": 201, **asked})
        request.created = frozenset({1})
        people = {"created_by_id": caller, "sender_id": ED, "receiver_id": OLGA}
        row = {"trip_id": TRIP, "amount_minor": amount_minor, "note": request.marker}
        self.log("splits_settlement", 1, None, {**row, **people, "split_id": None})

    @property
    def findings(self):
        return [finding.title for finding in Judge(self.journal, self.entries).run()]


@pytest.fixture(params=[True, False], ids=["postgresql", "sqlite"])
def history(request):
    return History(transactions=request.param)


def no_right(what):
    return [f"Nobody who asked for this entry had the right to make it. ({what})"]


NO_ENTRY = "A request that succeeded left no entry."
NOBODY = "Nobody asked for this entry. (no request)"
OTHERWISE = "Something else was meant."
BOTH = (Act.COPY_EXPENSE, Act.MOVE_EXPENSE)


@pytest.mark.parametrize(
    ("caller", "asked", "findings"),
    [
        (ED, {}, []),
        # Vera is no side of it.
        (VERA, {}, no_right("record a settlement")),
        (ED, {"status": 409}, ["A request that was refused left an entry. (record a settlement)"]),
        # The answer was lost.
        (ED, {"status": None}, []),
        # At another moment.
        (ED, {"started": 0, "ended": 1}, [NOBODY, f"{NO_ENTRY} (record a settlement)"]),
    ],
)
def test_a_settlement_is_of_who_asked_for_it(history, caller, asked, findings):
    history.settles(caller, 1235, **asked)
    assert history.findings == findings


def test_an_entry_of_a_removed_member_is_found(history):
    history.removes(ED, "EDITOR")
    history.settles(ED, 1235, started=3)
    assert history.findings == no_right("record a settlement")


def test_an_amount_in_the_currency_of_before_is_found(history):
    change = history.asks(Act.CHANGE_TRIP, OLGA, TRIP, {"currency": "JPY"})
    yen = {**history.trip, "title": change.marker, "currency": "JPY"}
    history.log("trips_trip", TRIP, history.trip, yen)
    history.settles(ED, 1235, started=3)
    assert history.findings == [f"{OTHERWISE} (record a settlement)"]


def test_a_change_of_an_expense_that_was_given_to_another_is_found(history):
    recorded = history.asks(Act.RECORD_EXPENSE, OLGA, None, {}, 201)
    money = {"amount_minor": 1, "entered_minor": 1, "currency": "EUR", "exchange_rate": None}
    money["tags"] = []
    whose = {"trip_id": TRIP, "created_by_id": OLGA, "description": recorded.marker}
    expense = {**money, **whose, "notes": recorded.marker, "updated_at": "now"}
    by_ed, by_vera = ({"expense_id": 5, "user_id": user, "entered_minor": 1} for user in (ED, VERA))
    history.log("splits_expense", 5, None, expense)
    history.log("splits_payer", 6, None, by_ed)
    # The payers are replaced before the expense is written, in the same transaction.
    for caller, old, new in ((OLGA, by_ed, by_vera), (ED, by_vera, by_ed)):
        change = history.asks(Act.CHANGE_EXPENSE, caller, 5, {}, ended=99)
        changed = {**expense, "notes": change.marker}
        history.log("splits_payer", 6, old, None, 100 + caller)
        history.log("splits_payer", 7, None, new, 100 + caller)
        history.log("splits_expense", 5, expense, changed, 100 + caller)
        expense = changed
    assert history.findings == no_right("change an expense")


def test_other_tags_than_were_asked_for_are_found(history):
    body = {"description": "Fish", "amount": "0.01", "currency": "EUR", "tags": ["Fish"]}
    recorded = history.asks(Act.RECORD_EXPENSE, OLGA, None, body, 201)
    recorded.created = frozenset({5})
    money = {"amount_minor": 1, "entered_minor": 1, "currency": "EUR", "exchange_rate": None}
    texts = {"description": recorded.marker, "notes": recorded.marker, "updated_at": "now"}
    about = {**texts, "trip_id": TRIP, "created_by_id": OLGA}
    history.log("splits_expense", 5, None, {**money, **about, "tags": []})
    assert history.findings == [f"{OTHERWISE} (record an expense)"]


def test_other_items_than_were_asked_for_are_found(history):
    items = [{"name": "Fish", "amount": "0.01", "shares": {str(OLGA): 1}}]
    body = {"description": "", "amount": "0.01", "splitType": "ITEMIZED", "items": items}
    recorded = history.asks(Act.RECORD_EXPENSE, OLGA, None, body, 201)
    money = {"amount_minor": 1, "entered_minor": 1, "currency": "EUR", "exchange_rate": None}
    stored = json.dumps({"items": [{**items[0], "amount": 0.01, "name": "Meat"}]})
    about = {"trip_id": TRIP, "created_by_id": OLGA, "description": recorded.marker, "tags": []}
    row = {**money, **about, "split_type": "ITEMIZED", "stored_items": stored}
    history.log("splits_expense", 5, None, row)
    assert history.findings == [f"{OTHERWISE} (record an expense)"]


def brings(history, act, caller, **changed):
    """Olga's expense 5 comes from the first trip to the other one, as expense 6 of the caller."""
    recorded = history.asks(Act.RECORD_EXPENSE, OLGA, None, {}, 201)
    recorded.created = frozenset({5})
    money = {"amount_minor": 1, "entered_minor": 1, "currency": "EUR", "exchange_rate": None}
    money["tags"] = []
    texts = {"description": recorded.marker, "notes": recorded.marker, "updated_at": "now"}
    old = {**money, **texts, "trip_id": TRIP, "created_by_id": OLGA}
    history.log("splits_expense", 5, None, old)
    asked = history.asks(act, caller, OTHER, {"tripId": OTHER}, 201, ended=99)
    asked.expense, asked.created = 5, frozenset({6})
    new = {**old, "trip_id": OTHER, "created_by_id": caller, **changed}
    history.log("splits_expense", 6, None, new, 200, trip=OTHER)
    split = {"expense_id": 6, "participant_id": ED, "amount_minor": 1}
    history.log("splits_split", 8, None, split, 200, trip=OTHER)
    if act is Act.MOVE_EXPENSE:
        history.log("splits_expense", 5, old, None, 200)


@pytest.mark.parametrize(
    ("act", "caller", "role", "findings"),
    [
        *((act, OLGA, "EDITOR", []) for act in BOTH),
        # An EDITOR copies what others recorded, and moves only their own.
        (Act.COPY_EXPENSE, ED, "EDITOR", []),
        (Act.MOVE_EXPENSE, ED, "EDITOR", no_right("move an expense")),
        *((act, ED, "VIEWER", no_right(act.text)) for act in BOTH),
    ],
)
def test_an_expense_is_brought_by_who_may_record_it_there(history, act, caller, role, findings):
    history.starts(OTHER, ed=role)
    brings(history, act, caller)
    assert set(history.findings) == {*findings}


def test_an_expense_that_was_moved_and_is_still_there_is_found(history):
    history.starts(OTHER)
    brings(history, Act.MOVE_EXPENSE, OLGA)
    deletion = history.entries.pop()
    assert (deletion.row, deletion.operation) == (5, "DELETE")
    assert history.findings == [f"{NO_ENTRY} (move an expense)"]


def test_an_expense_that_nobody_brought_is_found(history):
    history.starts(OTHER)
    brings(history, Act.COPY_EXPENSE, OLGA)
    history.journal.requests.pop()
    assert set(history.findings) == {NOBODY}


@pytest.mark.parametrize(
    ("currency", "changed"),
    [
        ("EUR", {"amount_minor": 2, "entered_minor": 2}),
        ("EUR", {"currency": "USD"}),
        ("EUR", {"tags": ["Fish"]}),
        ("JPY", {}),
    ],
)
def test_what_is_another_in_the_other_trip_is_found(history, currency, changed):
    history.starts(OTHER, currency=currency)
    brings(history, Act.COPY_EXPENSE, OLGA, **changed)
    assert set(history.findings) == {f"{OTHERWISE} (copy an expense)"}


def invitation(**columns):
    """Olga's invitation as an EDITOR, which works once."""
    whose = {"trip_id": TRIP, "created_by_id": OLGA, "guest_id": None, "revoked_at": None}
    return {**whose, "role": "EDITOR", "max_uses": 1, "uses": 0, **columns}


def accepts(history, user, role="EDITOR", **before):
    """Olga invites, and `user` accepts; `before` is how the invitation is by then."""
    asked = history.asks(Act.INVITE, OLGA, TRIP, {"role": "EDITOR"}, 201)
    asked.created = frozenset({3})
    history.log("trips_invitation", 3, None, invitation(**before))
    history.asks(Act.ACCEPT_INVITATION, user, 3, None, 201, ended=99)
    uses = before.get("uses", 0)
    history.log("trips_invitation", 3, invitation(uses=uses), invitation(uses=uses + 1), 200)
    history.log("trips_member", user, None, history.member(user, role), 200)


@pytest.mark.parametrize(
    ("accepted", "findings"),
    [
        ({}, []),
        ({"uses": 1}, no_right("accept an invitation")),
        ({"revoked_at": "now"}, no_right("accept an invitation")),
        # Invited as an EDITOR.
        ({"role": "OWNER"}, no_right("accept an invitation")),
    ],
)
def test_an_invitation_is_accepted_as_it_is(history, accepted, findings):
    accepts(history, SAM, **accepted)
    assert history.findings == findings


@pytest.mark.parametrize(("role", "is_void"), [("VIEWER", True), ("OWNER", False)])
def test_an_invitation_is_revoked_by_a_change_of_role_only_if_it_is_void(history, role, is_void):
    made = history.asks(Act.INVITE, ED, TRIP, {"role": "EDITOR"}, 201)
    made.created = frozenset({3})
    history.log("trips_invitation", 3, None, invitation(created_by_id=ED))
    history.asks(Act.CHANGE_ROLE, OLGA, (TRIP, ED), {"role": role})
    before, after = history.member(ED, "EDITOR"), history.member(ED, role)
    history.log("trips_member", ED, before, after, 200)
    revoked = invitation(created_by_id=ED, revoked_at="now")
    history.log("trips_invitation", 3, invitation(created_by_id=ED), revoked, 200)
    expected = [] if is_void else [NOBODY]
    assert history.findings == expected


def test_an_invitation_to_a_role_above_that_of_its_author_is_found(history):
    asked = history.asks(Act.INVITE, ED, TRIP, {"role": "OWNER"}, 201)
    asked.created = frozenset({3})
    history.log("trips_invitation", 3, None, invitation(created_by_id=ED, role="OWNER"))
    assert history.findings == no_right("invite somebody")


@pytest.mark.parametrize(("caller", "is_own"), [(ED, True), (VERA, False)])
def test_what_somebody_else_recorded_is_restored_by_nobody_but_an_owner(history, caller, is_own):
    history.log(
        "trips_member", VERA, history.member(VERA, "VIEWER"), history.member(VERA, "EDITOR")
    )
    history.asks(Act.CHANGE_ROLE, OLGA, (TRIP, VERA), {"role": "EDITOR"}, started=3, ended=4)
    history.settles(ED, 1235)
    stored = history.entries[-1].new
    history.asks(Act.DELETE_SETTLEMENT, ED, 1, None, 204)
    history.log("splits_settlement", 1, stored, None)
    history.asks(Act.RESTORE_SETTLEMENT, caller, 1, None)
    history.log("splits_settlement", 1, None, stored)
    assert history.findings == ([] if is_own else no_right("restore a settlement"))


def test_a_guest_who_vanishes_without_a_merge_is_found(history):
    asked = history.asks(Act.ADD_GUEST, ED, TRIP, {"name": "Grandma"}, 201)
    asked.created = frozenset({4})
    guest = history.member(14, "VIEWER")
    history.log("trips_member", 4, None, guest)
    history.asks(Act.MERGE_GUEST, ED, (TRIP, 14), {"userId": VERA})
    history.log("trips_member", 4, guest, None)
    assert history.findings == no_right("merge a guest")


@pytest.mark.parametrize(
    ("act", "statuses", "findings"),
    [
        (Act.DELETE_EXPENSE, [204], [f"{NO_ENTRY} (delete an expense)"]),
        # A 503 is no fault.
        (Act.READ_PLAN, [500, 503], ["The server failed. (read the plan)"]),
    ],
)
def test_an_answer_is_judged_without_an_entry(history, act, statuses, findings):
    for status in statuses:
        history.asks(act, OLGA, 5, None, status)
    assert history.findings == findings


def test_a_closed_account_that_is_served_is_found(history):
    history.journal.closed_at[ED] = 3
    history.asks(Act.READ_PLAN, ED, None, None, started=3.5)
    assert history.findings == ["A closed account was served. (read the plan)"]
