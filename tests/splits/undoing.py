"""A trip that has a history, in which deletions are undone and guests replaced.

Nothing of what readers are shown may change by that; see `test_neutral.py`.
"""

from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from splits.models import DailyRate
from splits.reports.audit import differences
from tests.admin_client import AdminClient
from tests.cast import Api
from tests.factories import TripFactory, add_guest, join
from tests.splits.histories import weighted_people
from tests.splits.ledger import Json, Ledger, exact
from tests.walked import all_of, answers
from trips.roles import TripRole
from users.models import User

#: The entries, which name people, and all rows that can be deleted and restored.
ENTRIES = ("expenses", "settlements")
KINDS = (*ENTRIES, *all_of("RESTORABLE"))
#: What is shown of the whole trip.
TRIP_PATHS = (*("members", "balances", "settle-up"), *all_of("UNCHANGED"))
ANY = st.integers(0, 11)
AMOUNTS = st.integers(1, 40)
RATE_DAY = "2026-05-13"
Weights = dict[int, int]
Kind = tuple[str, bool, str]
#: What a deletion and a restore change of course.
_CHANGES = ("updatedAt", "updated_at", "history", "usedAt")
#: What happens to the trip, and to whom; numbers choose among what there is.
KIND = st.tuples(
    st.sampled_from(["SHARES", "SHARES", "EQUAL", "ADJUSTMENT", "ITEMIZED", "default"]),
    st.sampled_from([False, False, False, True]),
    st.sampled_from(["EUR", "EUR", "EUR", "JPY"]),
)
STEP = st.one_of(
    st.tuples(st.just("spend"), AMOUNTS, weighted_people(), weighted_people(), KIND),
    st.tuples(st.just("edit"), ANY, AMOUNTS, weighted_people(), weighted_people(), KIND),
    st.tuples(st.just("there_and_back"), ANY, AMOUNTS),
    st.tuples(st.just("carry"), ANY, st.sampled_from(["copy", "move"])),
    st.tuples(st.just("pay"), ANY, ANY),
    st.tuples(st.just("unpay"), ANY, ANY),
    st.tuples(st.just("settle"), ANY, ANY, AMOUNTS),
    st.tuples(st.just("close"), st.booleans()),
    st.tuples(st.just("close"), st.booleans()),
    st.tuples(st.just("delete"), ANY),
    st.tuples(st.just("take_back"), ANY),
    st.tuples(st.just("bring_back"), ANY),
    st.tuples(st.just("come_or_go")),
    st.tuples(st.just("cut"), ANY, ANY),
    st.tuples(st.just("take_over"), st.integers(0, 1), ANY),
    st.tuples(st.just("beside"), ANY, ANY),
    st.tuples(st.just("beside"), ANY, ANY),
)


class History:
    """A trip of three accounts and two guests; an ADMIN does everything."""

    def __init__(self, api: Api, accounts: list[User], admin: User) -> None:
        self.trip, self.admin, self.accounts = TripFactory(currency="EUR"), admin, accounts
        self.api = api
        roles = (TripRole.OWNER, TripRole.EDITOR, TripRole.VIEWER)
        for user, role in zip(accounts, roles, strict=True):
            join(self.trip, user, role)
        self.guests = [add_guest(self.trip, name) for name in ("Grandma", "Bert")]
        self.ids = [user.pk for user in (*accounts, *self.guests)]
        self.ledger = Ledger(self.trip, api, admin)
        self.gone: set[int] = set()
        self.pages = AdminClient(admin)
        self.other_trip = TripFactory(currency="EUR")
        for user in accounts:
            join(self.other_trip, user, TripRole.OWNER)
        DailyRate.objects.get_or_create(currency="JPY", day=RATE_DAY, defaults={"per_euro": 160})
        named = [accounts[0].pk, self.guests[0].pk]
        weights = {str(pk): weight for weight, pk in enumerate(named, start=1)}
        division = {"participantUserIds": named, "splitType": "SHARES", "splitAmounts": weights}
        assert self.send("patch", self.ledger.url, {"defaultDivision": division}).status_code == 200
        due = {**self._body(7, {3: 1, 0: 2}, {3: 1}, ("ITEMIZED", False, "EUR"))}
        del due["expenseDate"]
        for begin in answers("begin_history"):
            begin(self, due)
        for happen in all_of("STEPS"):
            happen(self, 1)

    def send(self, method: str, path: str, body: Any = None, by: User | None = None) -> Any:
        response = self.ledger.answer(by or self.admin, method, path, body)
        assert response.status_code < 500, response.content
        return response

    def read(self, path: str) -> Any:
        response = self.send("get", path)
        assert response.status_code == 200, (path, response.content)
        return exact(response)

    def play(self, step: tuple[Any, ...]) -> None:
        """What is refused, such as money of somebody who left, changes nothing."""
        name, *values = step
        getattr(self, name)(*values)
        # Open debts and credit make the balances, too.
        assert list(differences(self.trip.pk)) == [], step

    # -- Steps ------------------------------------------------------------------------------------

    def spend(
        self, amount: int, people: Weights, payers: Weights, kind: Kind = ("SHARES", False, "EUR")
    ) -> None:
        self.send("post", "expenses", self._body(amount, people, payers, kind))

    def edit(self, which: int, amount: int, people: Weights, payers: Weights, kind: Kind) -> None:
        if found := self.pick("expenses", which):
            body = self._body(amount, people, payers, kind)
            self.send("put", f"expenses/{found['id']}", body)

    def carry(self, which: int, action: str) -> None:
        """Copy or move an expense without guests to the other trip."""
        if found := self.pick("expenses", which):
            path = f"expenses/{found['id']}/{action}"
            self.send("post", path, {"tripId": self.other_trip.pk})
            assert list(differences(self.other_trip.pk)) == []

    def pay(self, which: int, split: int, action: str = "pay") -> None:
        found = self.pick("expenses", which)
        if found and found["splits"]:
            chosen = found["splits"][split % len(found["splits"])]
            self.send("put", f"/api/expenses/{found['id']}/splits/{chosen['id']}/{action}")

    def unpay(self, which: int, split: int) -> None:
        self.pay(which, split, "unpay")

    def cut(self, which: int, split: int) -> None:
        """Delete a split; the items still name its participant."""
        found = self.pick("expenses", which)
        if found and found["splits"]:
            chosen = found["splits"][split % len(found["splits"])]
            self.send("delete", f"/api/expenses/{found['id']}/splits/{chosen['id']}")

    def take_over(self, which: int, person: int) -> None:
        """Merge a guest with somebody else, perhaps the other guest; a new one comes instead."""
        guest, to = self.guests[which], self._person(person)
        if self.send("post", f"guests/{guest.pk}/merge", {"userId": to}).status_code == 200:
            assert list(differences(self.trip.pk)) == []
            self.ids.remove(guest.pk)
            self.guests[which] = add_guest(self.trip, guest.name)
            self.ids.append(self.guests[which].pk)

    def settle(self, sender: int, receiver: int, amount: int) -> None:
        sides = {"fromUserId": self._person(sender), "toUserId": self._person(receiver)}
        self.send("post", "settlements", {**sides, "amount": amount})

    def close(self, by_plan: bool) -> None:
        """Follow the plan, or hand the money over by hand, each sum in two payments."""
        for row in self.read("settle-up"):
            sides = {"fromUserId": row["from"]["id"], "toUserId": row["to"]["id"]}
            amount, first = row["amount"], (row["amount"] / 3).quantize(Decimal("0.01"))
            for part in (amount,) if by_plan or not first else (first, amount - first):
                self.send("post", "settlements", {**sides, "amount": str(part)})

    def there_and_back(self, which: int, amount: int) -> None:
        """Correct an amount, and take the correction back."""
        if found := self.pick("expenses", which):
            path = f"expenses/{found['id']}"
            for value in (amount, found["amount"]):
                self.send("patch", path, {"amount": str(value)})

    def delete(self, which: int) -> None:
        if found := self.pick("expenses", which):
            self.send("delete", f"expenses/{found['id']}")

    def take_back(self, which: int) -> None:
        if found := self.pick("settlements", which):
            self.send("delete", f"settlements/{found['id']}")

    def bring_back(self, which: int) -> None:
        """Restore what was deleted some steps ago."""
        for kind in ENTRIES:
            if found := self.pick(kind, which, "&deleted=true"):
                self.send("post", f"{kind}/{found['id']}/restore")

    def come_or_go(self) -> None:
        """The last account leaves, or is there again and has not answered.

        To leave takes a balance of zero at first; later entries stay with a guest.
        """
        user = self.accounts[-1]
        if user.pk in self.gone:
            self.send("post", "members", {"userId": user.pk, "role": "VIEWER"})
            self.gone.discard(user.pk)
        elif self.ledger.answer(user, "post", "members/leave").status_code == 204:
            self.gone.add(user.pk)
            assert list(differences(self.trip.pk)) == []
            present = self.trip.members.present().values_list("user_id", flat=True)
            self.ids += set(present) - set(self.ids)

    def beside(self, kind: int, which: int) -> None:
        """Something happens to rows of a plugin."""
        if steps := all_of("STEPS"):
            steps[kind % len(steps)](self, which)

    # -- What must stay ---------------------------------------------------------------------------

    def answers(self) -> Json:
        """What readers are shown, but for history, changes, and the time of the last change."""
        pages = [f"{kind}?pageSize=100{also}" for kind in KINDS for also in ("", "&deleted=true")]
        found = {path: self.read(path) for path in (*pages, *TRIP_PATHS, self.ledger.url)}
        for expense in found[pages[0]]["items"]:
            url = f"/api/expenses/{expense['id']}"
            for path in (f"expenses/{expense['id']}", f"{url}/splits"):
                found[path] = self.read(path)
        for row in found[pages[2]]["items"]:
            found[f"settlements/{row['id']}"] = self.read(f"settlements/{row['id']}")
        for user in self.accounts:
            for name in ("pending-debts", "total-debt?currency=EUR"):
                found[f"/api/users/{user.pk}/{name}"] = self.read(f"/api/users/{user.pk}/{name}")
            for path in ("/api/trips/my-trips", *all_of("OF_ACCOUNT")):
                found[f"{path} of {user.pk}"] = exact(self.ledger.answer(user, "get", path))
        for path in all_of("OF_PERSON"):
            for pk in self.ids:
                # Former members are shown for as long as an entry names them.
                answer = self.send("get", path.format(pk))
                found[path.format(pk)] = (answer.status_code, exact(answer))
        for read in answers("read_history"):
            found |= read(self)
        return _without(found, *_CHANGES)

    def undo_each_deletion(self) -> None:
        """Delete and restore one entry after the other; one that closes the trip stays."""
        before = self.answers()
        for kind in KINDS:
            for row in before[f"{kind}?pageSize=100"]["items"]:
                path = f"{kind}/{row['id']}"
                deleted = self.send("delete", path)
                if deleted.status_code == 409:
                    assert deleted.json()["code"] == "closes_trip"
                    continue
                assert deleted.status_code == 204
                assert list(differences(self.trip.pk)) == []
                restored = self.send("post", f"{path}/restore")
                assert restored.status_code == 200, restored.content
        assert self.answers() == before

    def undo_several_deletions(self, order: Random) -> None:
        """Some entries are deleted together, and restored in another order."""
        before = self.answers()
        paths = [
            f"{kind}/{row['id']}"
            for kind in KINDS
            for row in before[f"{kind}?pageSize=100"]["items"]
        ]
        order.shuffle(paths)
        deleted = [path for path in paths[:4] if self.send("delete", path).status_code == 204]
        order.shuffle(deleted)
        for path in deleted:
            assert self.send("post", f"{path}/restore").status_code == 200
            assert list(differences(self.trip.pk)) == []
        assert list(differences(self.trip.pk)) == []
        # A settlement of `pay` that comes back before its split is one like any other, and a debt
        # that several cover is paid when the last of them is back.
        apart = ("paid_split_id", "paidAt", "covered_at")
        after, before = (_without(shown, *apart) for shown in (self.answers(), before))
        assert after == before, deleted

    def undo_deletion_of_the_trip(self) -> None:
        before = self.answers()
        assert self.send("delete", self.ledger.url).status_code == 204
        assert self.send("post", "restore").status_code == 200
        assert self.answers() == before

    def replace(self, guest: User, account: User, *, claim: bool) -> None:
        """Nothing of the entries changes but the name, or it is refused and nothing changes."""
        before = self.answers()
        if claim:
            [take_place] = answers("claim")
            done = take_place(self.api, self.trip, self.admin, guest, account)
            assert done.status_code in {201, 409}, done.content
        else:
            path = f"guests/{guest.pk}/merge"
            asked = self.send("post", path, {"userId": account.pk, "dryRun": True})
            done = self.send("post", path, {"userId": account.pk})
            assert asked.content == done.content or asked.status_code == 409 == done.status_code
        self.ids.remove(guest.pk)
        if done.status_code == 409:
            assert done.json()["code"] == "names_both"
            self.ids.append(guest.pk)
            assert self.answers() == before
            return
        assert list(differences(self.trip.pk)) == []
        after, both = self.answers(), {guest.pk, account.pk}

        def assert_same(path: str) -> None:
            assert _without_people(after[path], *both) == _without_people(before[path], *both)

        for kind in ENTRIES:
            assert_same(f"{kind}?pageSize=100")
        for user in self.accounts:
            if user != account:
                # Who received a refund is shown those who share it.
                for name in ("pending-debts", "total-debt?currency=EUR"):
                    assert_same(f"/api/users/{user.pk}/{name}")
        sums = [
            {row["user"]["id"]: row["balance"] for row in a["balances"]} for a in (before, after)
        ]
        assert sum(sums[0].get(pk, 0) for pk in both) == sums[1].get(account.pk, 0)
        for pk in sums[0].keys() - both:
            assert sums[0][pk] == sums[1][pk]
            for path in all_of("OF_PERSON"):
                assert_same(path.format(pk))

    # -- Bodies -----------------------------------------------------------------------------------

    def _person(self, at: int) -> int:
        return self.ids[at % len(self.ids)]

    def _body(self, amount: int, people: Weights, payers: Weights, kind: Kind) -> Json:
        """Divided by weight; the payers put in as much as their weights, the first one the rest."""
        split_type, is_refund, currency = kind
        shares = {self._person(at + amount): weight for at, weight in people.items()}
        paid = {self._person(at + amount): weight for at, weight in payers.items()}
        amount += sum(paid.values())
        first = next(iter(paid))
        paid[first] += amount - sum(paid.values())
        sign = 1
        if is_refund:
            # One person receives it.
            sign, amount, paid = -1, -amount, {first: -amount}
        by_id = {str(pk): weight for pk, weight in shares.items()}
        first_id = next(iter(by_id))
        division: Json = {"splitType": split_type, "participantUserIds": list(shares)}
        match split_type:
            case "SHARES":
                division["splitAmounts"] = by_id
            case "ADJUSTMENT":
                division["splitAmounts"] = {first_id: sign}
            case "ITEMIZED":
                items = [
                    {"name": "Fish", "amount": amount - sign, "shares": by_id},
                    {"name": "Bread", "amount": 0, "shares": {first_id: 1}},
                ]
                division = {"splitType": split_type, "items": items, "tip": sign}
            case "default":
                division = {}
        return {
            "description": "Dinner",
            "amount": amount,
            "currency": currency,
            "expenseDate": "2026-05-14",
            "tags": [split_type],
            "payers": [{"userId": pk, "amount": part} for pk, part in paid.items()],
            **division,
        }

    def pick(self, kind: str, which: int, also: str = "") -> Json | None:
        """One of the first rows of this kind, if there is one."""
        rows = self.read(f"{kind}?pageSize=100{also}")["items"]
        return rows[which % len(rows)] if rows else None


def _without_people(shown: Any, *ids: int) -> Any:
    """The answer with one name in the place of these people."""
    if isinstance(shown, dict):
        if "guest" in shown and shown["id"] in ids:
            return "one of them"
        named = {str(pk) for pk in ids}
        if among := shown.get("participantUserIds"):
            among = ["one of them" if pk in ids else pk for pk in among]
            shown = {**shown, "participantUserIds": among}
        return {
            "one of them" if key in named else key: _without_people(value, *ids)
            for key, value in shown.items()
        }
    if isinstance(shown, list):
        return [_without_people(value, *ids) for value in shown]
    return shown


def _without(shown: Any, *names: str) -> Any:
    """The answer without the values of these names."""
    if isinstance(shown, dict):
        kept = {name: value for name, value in shown.items() if name not in names}
        return {name: _without(value, *names) for name, value in kept.items()}
    return [_without(value, *names) for value in shown] if isinstance(shown, list) else shown
