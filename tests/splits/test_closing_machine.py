"""Random histories of trips that are closed, changed and opened again, compared with the rules."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from splits.models import Settlement
from tests.factories import UserFactory
from tests.splits.histories import AMOUNTS, ANY, weighted_people
from tests.splits.rules import OffsetKey
from tests.splits.test_ledger_machine import Trip, with_balances

#: What happened in all examples of a run.
seen: Counter[str] = Counter()

OWNER = 0
#: From so many entries on, no trip is closed once more; other steps make one of them.
MOST = 45


def closings(machine):
    """The settlements that closed something that is closed still."""
    used = {use.closed_by for use in machine.rules.uses if use.closed_by}
    return sorted(used | {key.closing for key in machine.rules.offsets})


def closed_bills(machine, *, payers=1):
    """The expenses of so many payers at least with a debt that a settlement closed."""
    splits = closed_splits(machine)
    bills = {machine.rules.splits[split][0] for split in splits}
    return sorted(bill for bill in bills if len(machine.rules.bills[bill].paid_by_user) >= payers)


def closed_splits(machine):
    uses = machine.rules.uses
    return sorted({u.debt.split for u in uses if u.debt and isinstance(u.source, OffsetKey)})


def on_one_page(machine):
    """Whether all entries fit on one page of their list, whatever else happens."""
    return max(len(machine.rules.bills), len(machine.rules.money)) < MOST


class Closings(Trip):
    """A trip that is closed again and again, so that its history is about that."""

    # Rules of `Trip` that have nothing to do with it, and so are none here.
    correct_a_text = None
    leave_or_come_back = None
    add_a_split = None

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
        self._note(f"{min(len(closings(self)), 3)} closings stand")

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
        if which != standing[-1]:
            self._note("an earlier closing is deleted")
        ordered = sorted(self.rules.money)
        self.delete_a_settlement(OWNER, ordered.index(which))

    @precondition(closings)
    @rule(which=ANY)
    def delete_money_in_a_closed_trip(self, which):
        self.delete_a_settlement(OWNER, which)
        if closings(self):
            self._note("money is deleted in a closed trip")

    @precondition(closed_splits)
    @rule(which=ANY, action=st.sampled_from(["pay", "unpay"]))
    def touch_a_closed_split(self, which, action):
        split = self.pick(closed_splits(self), which)
        self.pay_or_unpay(OWNER, sorted(self.rules.splits).index(split), action)
        self._note(f"{action} of a closed split")

    @precondition(lambda machine: closed_bills(machine, payers=2))
    @rule(which=ANY, weights=st.lists(st.integers(1, 5), min_size=4, max_size=4))
    def shift_what_the_payers_of_a_closed_expense_paid(self, which, weights):
        """The creditors stay, so that the splits keep their state, and the debts change."""
        bill = self.pick(closed_bills(self, payers=2), which)
        ids = [user.pk for user in self.callers]
        payers = {
            ids.index(user): weight
            for user, weight in zip(self.rules.bills[bill].paid_by_user, weights, strict=False)
        }
        before = dict(self.rules.debts)
        self.say_anew_who_paid(OWNER, sorted(self.rules.bills).index(bill), payers)
        if any(before.get(debt, amount) != amount for debt, amount in self.rules.debts.items()):
            self._note("closed debts change")

    def _note(self, what):
        seen[what] += 1

    def teardown(self):
        if Settlement.with_offsets.exclude(closing=None).exists():
            self._note("something is closed in the end")
        super().teardown()


def missing(names):
    return [name for name in names if not seen[name]]


@pytest.mark.slow
@pytest.mark.soak
def test_whatever_is_closed_opens_again_as_the_rules_say(api, olga, ed, vera, ada):
    bert = UserFactory(name="Bert Beside", email="bert@example.com")
    soaking = settings.get_current_profile_name() == "soak"
    budget = settings(max_examples=12, stateful_step_count=25, derandomize=True, database=None)
    run_state_machine_as_test(
        lambda: Closings(api, [olga, ed, bert, vera], ada),
        settings=settings(
            settings() if soaking else budget,
            phases=[Phase.reuse, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert not missing(
        (
            "3 closings stand",
            "something is closed in the end",
            "an earlier closing is deleted",
            "closed debts change",
            "money is deleted in a closed trip",
            "unpay of a closed split",
        )
    ), seen
