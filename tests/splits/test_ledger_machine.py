"""Random histories of a trip over the API, compared after every step with the rules once more.

The trip is closed again and again, so that a large part of its history is about that.
"""

from collections import Counter
from itertools import chain

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from splits.models import Expense, Settlement
from tests.factories import UserFactory
from tests.splits.histories import (
    AMOUNTS,
    ANY,
    CALLER,
    DECIMALS,
    DIVISION,
    OWNER,
    Histories,
    weighted_people,
)
from tests.splits.ledger import exact
from tests.splits.rules import Money, OffsetKey
from trips.roles import Can, TripRole

#: From so many entries on, no trip is closed once more; other steps make one of them.
MOST = 45


def with_bills(machine):
    return bool(machine.rules.bills)


def with_splits(machine):
    return bool(machine.rules.splits)


def with_money(machine):
    return bool(machine.rules.money)


def with_balances(machine):
    return any(machine.rules.balance(user) for user in machine.users)


def closings(machine):
    """The settlements that closed something that is closed still."""
    used = {use.closed_by for use in machine.rules.uses if use.closed_by}
    return sorted(used | {key.closing for key in machine.rules.offsets})


def closed_splits(machine):
    uses = machine.rules.uses
    return sorted({u.debt.split for u in uses if u.debt and isinstance(u.source, OffsetKey)})


def closed_bills(machine):
    """The expenses of several payers with a debt that a settlement closed."""
    bills = {machine.rules.splits[split][0] for split in closed_splits(machine)}
    return sorted(bill for bill in bills if len(machine.rules.bills[bill].paid_by_user) > 1)


def on_one_page(machine):
    """Whether all entries fit on one page of their list, whatever else happens."""
    return max(len(machine.rules.bills), len(machine.rules.money)) < MOST


class Trip(Histories):
    """Everything that anybody does with the money of a trip; `seen` counts what happened."""

    seen = Counter[str]()

    @initialize(
        currency=st.sampled_from(sorted(DECIMALS)),
        expenses=st.lists(st.fixed_dictionaries(DIVISION), min_size=2, max_size=4),
    )
    def start(self, currency, expenses):
        self.begin(currency)
        for division in expenses:
            self.record_an_expense(0, **division)

    @rule(caller=CALLER, **DIVISION)
    def record_an_expense(self, caller, **division):
        by, sent = self.callers[caller], self.sent(**division)
        response = self.send(by, "post", "expenses", sent.body)
        refused = self.refusal(by, Can.RECORD) or (400 if sent.named - self.present else 0)
        if self.succeeded(response, refused or 201):
            bill = self.rules.record(response.json()["id"], by.pk)
            self.rewritten(bill, sent.parts(self.rules.bills[bill].number), sent.paid_by_user)

    @precondition(with_bills)
    @rule(caller=CALLER, bill=ANY, **DIVISION)
    def replace_an_expense(self, caller, bill, **division):
        by, bill, sent = (
            self.callers[caller],
            self.pick(self.rules.bills, bill),
            self.sent(**division),
        )
        response = self.send(by, "put", f"expenses/{bill}", sent.body)
        refused = self.refusal_to_change(by, bill) or (400 if sent.named - self.known(bill) else 0)
        stored, parts = self.rules.bills[bill], sent.parts(self.rules.bills[bill].number)
        closing = None
        if not refused and response.status_code == 409:
            closing = self.closed_on_top(bill, parts, sent.paid_by_user)
        if self.succeeded(response, refused or 200, closing):
            # What was set by hand stays if neither money nor division is another.
            stored.divided = Expense.objects.get(pk=bill).divided
            if not stored.divided:
                assert list(sent.paid_by_user.items()) == list(stored.paid_by_user.items())
                assert sent.entered.keys() == stored.parts.keys()
                parts = stored.parts
            self.rewritten(bill, parts, sent.paid_by_user)

    def closed_on_top(self, bill, parts, paid_by_user=None):
        """What has to go before the bill is divided like this; without payers they stay."""
        paid_by_user = paid_by_user or self.rules.bills[bill].paid_by_user
        return self.rules.closed_on_top_of(bill, paid_by_user, parts)

    @precondition(with_bills)
    @rule(caller=CALLER, bill=ANY, payers=weighted_people())
    def say_anew_who_paid(self, caller, bill, payers):
        by, bill = self.callers[caller], self.pick(self.rules.bills, bill)
        stored = self.rules.bills[bill]
        amount = sum(stored.paid_by_user.values())
        sent = self.sent(amount, "EQUAL", {0: 1}, payers)
        response = self.send(by, "patch", f"expenses/{bill}", {"payers": sent.body["payers"]})
        is_same = list(sent.paid_by_user.items()) == list(stored.paid_by_user.items())
        refused = self.refusal_to_change(by, bill)
        # Splits that were added or deleted by hand may be no division of the amount any more.
        refused = refused or (409 if not stored.divided and not is_same else 0)
        refused = refused or (400 if sent.paid_by_user.keys() - self.known(bill) else 0)
        closing = None if refused else self.closed_on_top(bill, stored.parts, sent.paid_by_user)
        if self.succeeded(response, refused or 200, closing):
            rows = exact(response)["splits"]
            parts = {row["participant"]["id"]: self.minor(row["amount"]) for row in rows}
            assert parts == stored.parts
            self.rewritten(bill, parts, sent.paid_by_user)

    @precondition(with_bills)
    @rule(caller=CALLER, bill=ANY)
    def correct_a_text(self, caller, bill):
        by, bill = self.callers[caller], self.pick(self.rules.bills, bill)
        response = self.send(by, "patch", f"expenses/{bill}", {"notes": "Was it?"})
        assert response.status_code == (self.refusal_to_change(by, bill) or 200)

    @precondition(with_bills)
    @rule(caller=CALLER, bill=ANY)
    def delete_an_expense(self, caller, bill):
        by, bill = self.callers[caller], self.pick(self.rules.bills, bill)
        refused = self.refusal_to_change(by, bill)
        response = self.send(by, "delete", f"expenses/{bill}")
        closing = None if refused else self.closed_on_top(bill, {})
        if self.succeeded(response, refused or 204, closing):
            self.rules.delete(bill)

    @precondition(with_bills)
    @rule(caller=CALLER, bill=ANY, person=ANY, amount=AMOUNTS)
    def add_a_split(self, caller, bill, person, amount):
        by, bill = self.callers[caller], self.pick(self.rules.bills, bill)
        stored, user = self.rules.bills[bill], self.pick(self.users, person)
        left = sum(stored.paid_by_user.values()) - sum(stored.parts.values())
        sign = 1 if sum(stored.paid_by_user.values()) > 0 else -1
        is_too_much = amount > abs(left)
        amount = sign * min(amount, abs(left) + 1)
        body = {"participantUserId": user, "amount": self.major(amount)}
        response = self.send(by, "post", f"/api/expenses/{bill}/splits", body)
        refused = self.refusal(by, Can.RECORD) or (0 if user in self.present else 400)
        refused = refused or (409 if user in stored.parts or is_too_much else 0)
        closing = None if refused else self.closed_on_top(bill, {**stored.parts, user: amount})
        if self.succeeded(response, refused or 201, closing):
            stored.divided = False
            self.rewritten(bill, {**stored.parts, user: amount}, None)

    @precondition(with_splits)
    @rule(caller=CALLER, split=ANY)
    def delete_a_split(self, caller, split):
        by, split = self.callers[caller], self.pick(self.rules.splits, split)
        bill, user = self.rules.splits[split]
        stored = self.rules.bills[bill]
        refused = self.refusal_to_change(by, bill, Can.DELETE_SPLITS)
        response = self.send(by, "delete", f"/api/expenses/{bill}/splits/{split}")
        rest = {u: part for u, part in stored.parts.items() if u != user}
        closing = None if refused else self.closed_on_top(bill, rest)
        if self.succeeded(response, refused or 204, closing):
            stored.divided = False
            self.rewritten(bill, rest, None)

    @precondition(with_splits)
    @rule(caller=CALLER, split=ANY, action=st.sampled_from(["pay", "pay", "unpay"]))
    def pay_or_unpay(self, caller, split, action):
        by, split = self.callers[caller], self.pick(self.rules.splits, split)
        bill, user = self.rules.splits[split]
        people = {user, *chain.from_iterable(self.rules.sides(split))}
        refused = self.refusal(by, Can.SETTLE, own=by.pk in people)
        url = f"/api/expenses/{bill}/splits/{split}/{action}"
        response = self.send(by, "put", url)
        closing = self.rules.closed_on_top(self.rules.paying([split]))
        if refused or action == "pay":
            closing = None
        if self.succeeded(response, refused or 200, closing):
            if action == "pay":
                self.entered(self.rules.pay(split, by.pk))
            else:
                self.rules.unpay(split)
            assert self.send(by, "put", url).content == response.content

    @rule(caller=CALLER, sender=ANY, receiver=ANY, amount=AMOUNTS)
    def settle(self, caller, sender, receiver, amount):
        by, sender = self.callers[caller], self.pick(self.users, sender)
        receiver = self.pick(self.users.keys() - {sender}, receiver)
        body = {"fromUserId": sender, "toUserId": receiver, "amount": self.major(amount)}
        response = self.send(by, "post", "settlements", body)
        refused = self.refusal(by, Can.SETTLE, own=by.pk in {sender, receiver})
        refused = refused or (400 if {sender, receiver} - self.present else 0)
        if self.succeeded(response, refused or 201):
            self.entered([Money(sender, receiver, amount, by.pk)])

    @precondition(with_balances)
    @rule()
    def follow_the_plan(self):
        plan = exact(self.send(self.admin, "get", "settle-up"))
        assert 0 < len(plan) < sum(1 for user in self.users if self.rules.balance(user))
        for transfer in plan:
            sender, receiver = transfer["from"]["id"], transfer["to"]["id"]
            body = {"fromUserId": sender, "toUserId": receiver, "amount": transfer["amount"]}
            response = self.send(self.admin, "post", "settlements", body)
            if {sender, receiver} - self.present:
                assert response.status_code == 400
                return
            self.entered([Money(sender, receiver, self.minor(body["amount"]), self.admin.pk)])
        assert not with_balances(self)
        assert not any(self.rules.pending(user) for user in self.users)

    @precondition(with_money)
    @rule(caller=CALLER, settlement=ANY)
    def delete_a_settlement(self, caller, settlement):
        by, settlement = self.callers[caller], self.pick(self.rules.money, settlement)
        own = by.pk == self.rules.money[settlement].by
        refused = self.refusal(by, Can.DELETE_SETTLEMENTS, own=own)
        response = self.send(by, "delete", f"settlements/{settlement}")
        closing = None if refused else self.rules.closed_on_top([settlement])
        if self.succeeded(response, refused or 204, closing):
            self.rules.delete_settlement(settlement)

    @precondition(on_one_page)
    @rule(amount=AMOUNTS, payers=weighted_people())
    def close_once_more(self, amount, payers):
        """Two debts that cancel out, and one to several, which the plan settles."""
        alike = {"amount": amount, "split_type": "EQUAL"}
        for payer, debtor in ((0, 1), (1, 0)):
            self.record_an_expense(OWNER, people={debtor: 1}, payers={payer: 1}, **alike)
        self.record_an_expense(OWNER, people={0: 1, 3: 1}, payers=payers, **alike)
        if with_balances(self):
            self.follow_the_plan()
        self.seen[f"{min(len(closings(self)), 3)} closings stand"] += 1

    @precondition(lambda machine: closings(machine) and on_one_page(machine))
    @rule(amount=AMOUNTS, payers=weighted_people())
    def close_on_top_and_open_what_is_below(self, amount, payers):
        self.close_once_more(amount, payers)
        self.delete_a_closing(0)

    @precondition(closings)
    @rule(which=ANY)
    def delete_a_closing(self, which):
        standing = closings(self)
        which = self.pick(standing, which)
        self.seen["an earlier closing is deleted"] += which != standing[-1]
        self.delete_a_settlement(OWNER, sorted(self.rules.money).index(which))

    @precondition(closings)
    @rule(which=ANY)
    def delete_money_in_a_closed_trip(self, which):
        self.delete_a_settlement(OWNER, which)
        self.seen["money is deleted in a closed trip"] += bool(closings(self))

    @precondition(closed_splits)
    @rule(which=ANY, action=st.sampled_from(["pay", "unpay"]))
    def touch_a_closed_split(self, which, action):
        split = self.pick(closed_splits(self), which)
        self.pay_or_unpay(OWNER, sorted(self.rules.splits).index(split), action)
        self.seen[f"{action} of a closed split"] += 1

    @precondition(closed_bills)
    @rule(which=ANY, weights=st.lists(st.integers(1, 5), min_size=4, max_size=4))
    def shift_what_the_payers_of_a_closed_expense_paid(self, which, weights):
        """The creditors stay, so that the splits keep their state, and the debts change."""
        bill = self.pick(closed_bills(self), which)
        ids = [user.pk for user in self.callers]
        payers = dict(
            zip(map(ids.index, self.rules.bills[bill].paid_by_user), weights, strict=False)
        )
        before = dict(self.rules.debts)
        self.say_anew_who_paid(OWNER, sorted(self.rules.bills).index(bill), payers)
        after = self.rules.debts.items()
        self.seen["closed debts change"] += any(before.get(debt, a) != a for debt, a in after)

    @precondition(with_splits)
    @rule(person=ANY)
    def leave_or_come_back(self, person):
        user = self.pick(self.users, person)
        if user not in self.present:
            body = {"userId": user, "role": self.roles[user].value}
            assert self.send(self.admin, "post", "members", body).status_code == 201
            # Who has not answered may leave with any balance; `test_unanswered.py` has that.
            assert self.send(self.users[user], "get", "balances").status_code == 200
            self.present.add(user)
            return
        stays = self.roles[user] is TripRole.OWNER or self.rules.balance(user)
        response = self.send(self.users[user], "post", "members/leave")
        assert response.status_code == (409 if stays else 204)
        if not stays:
            self.present.discard(user)

    def teardown(self):
        is_closed = Settlement.with_offsets.exclude(closing=None).exists()
        self.seen["something is closed in the end"] += is_closed
        super().teardown()


@pytest.mark.slow
@pytest.mark.soak
def test_whatever_happens_the_books_are_what_the_rules_say(api, olga, ed, vera, ada):
    """T104: The ledger is consistent after random operations."""
    bert = UserFactory(name="Bert Beside", email="bert@example.com")
    soaking = settings.get_current_profile_name() == "soak"
    budget = settings(max_examples=14, stateful_step_count=25, derandomize=True, database=None)
    Trip.seen = Counter()
    run_state_machine_as_test(
        lambda: Trip(api, [olga, ed, bert, vera], ada),
        settings=settings(
            settings() if soaking else budget,
            phases=[Phase.reuse, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    expected = {"3 closings stand", "something is closed in the end", "unpay of a closed split"}
    expected |= {"an earlier closing is deleted", "money is deleted in a closed trip"}
    assert not {*expected, "closed debts change"} - {*+Trip.seen}, Trip.seen
