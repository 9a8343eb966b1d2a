"""Recomputes the whole ledger from its entries, and reports stored values that differ."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeVar

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from rest_framework.exceptions import ValidationError

from splits import money
from splits.models import Allocation, Debt, Settlement
from splits.models.division import Part, Payment
from splits.models.expense import Expense
from splits.models.in_trip import added_rows
from splits.models.payer import Payer
from splits.models.posting import amounts
from splits.models.split import Split
from splits.reports.audit_rows import CHUNK_ROWS, ByExpense, Joins, plan_for_all_rows, streamed
from tripcompanion.currency.amounts import convert
from tripcompanion.database.snapshots import snapshot
from trips.models import Member, Trip
from trips.models.member import KEPT_SUMS

#: The expected sums of each member, by trip and user.
Sums = dict[tuple[int, int], Counter[str]]
Row = TypeVar("Row")


class Difference(NamedTuple):
    """One stored value that does not match the entries."""

    trip_id: int
    text: str

    def __str__(self) -> str:
        return f"trip {self.trip_id}: {self.text}"


class Watch(Protocol):
    """Passes rows on unchanged, and shows how many, as `Progress` does."""

    def __call__(self, rows: Iterable[Row], /, *, desc: str, total: int) -> Iterable[Row]: ...


def differences(trip_id: int | None = None, watch: Watch | None = None) -> Iterator[Difference]:
    """Every difference in the ledger, or in one of its trips. Streams the rows.

    Reads one snapshot, because others may write meanwhile.
    """
    with snapshot():
        plan_for_all_rows()
        yield from _differences(trip_id, watch)


def _watched(
    watch: Watch | None, rows: Iterable[Row], desc: str, of: QuerySet[Any]
) -> Iterable[Row]:
    """`rows`, which are those `of` a queryset; it is counted only for somebody who watches."""
    return rows if watch is None else watch(rows, desc=desc, total=of.count())


def _differences(trip_id: int | None, watch: Watch | None) -> Iterator[Difference]:
    of_trip = Q() if trip_id is None else Q(trip=trip_id)
    sums: Sums = defaultdict(Counter)
    strays = list(_trips_of_rows(of_trip))
    yield from strays
    yield from _debts_of_others(of_trip)
    joins = Joins(of_trip, by_trip=not strays)
    yield from _expenses(joins, sums, watch)
    yield from _allocations(joins)
    settlements = Settlement.objects.filter(of_trip)
    rows = streamed(settlements, "trip", "sender", "receiver", "amount_minor")
    for trip, sender, receiver, amount_minor in _watched(watch, rows, "Settlements", settlements):
        sums[trip, sender]["sent_minor"] += amount_minor
        sums[trip, receiver]["received_minor"] += amount_minor
    foreign = settlements.exclude(exchange_rate=None).select_related("trip")
    for row in foreign.iterator(CHUNK_ROWS):
        for text in _amount(row):
            yield Difference(row.trip_id, f"settlement {row.pk}: {text}")
    yield from _members(of_trip, sums)
    yield from _closings(joins)


def _expenses(joins: Joins, sums: Sums, watch: Watch | None) -> Iterator[Difference]:
    """Checks the shares and debts of every expense; adds them to the members' `sums`."""
    expenses = Expense.objects.filter(joins.of_trip)
    of_expense = joins.among("expense", Expense)
    payers = ByExpense(Payer.objects.filter(of_expense), "expense", "user", *Payment._fields)
    splits = ByExpense(Split.objects.filter(of_expense), "expense", "participant", *Part._fields)
    of_split = Debt.objects.filter(joins("split"), joins.among("split__expense", Expense))
    debts = ByExpense(of_split, "split__expense", "debtor", "creditor", "amount_minor")
    columns = (
        *("trip__currency", "trip__claimed_guests", "number", "amount_minor", "entered_minor"),
        *("currency", "exchange_rate", "split_type", "stored_items", "divided", "merged_guests"),
    )
    rows = expenses.select_related("trip").only(*columns).order_by("id").iterator(CHUNK_ROWS)
    for expense in _watched(watch, rows, "Expenses", expenses):
        payments = {user: Payment(*payment) for user, *payment in payers.of(expense.pk)}
        parts = {user: Part(*part) for user, *part in splits.of(expense.pk)}
        paid, shares = amounts(payments), amounts(parts)
        owed = {(debtor, creditor): amount for debtor, creditor, amount in debts.of(expense.pk)}
        for text in _expense_faults(expense, payments, parts, owed):
            yield Difference(expense.trip_id, f"expense {expense.pk}: {text}")
        for user, amount_minor in paid.items():
            sums[expense.trip_id, user]["paid_minor"] += amount_minor
        if abs(sum(shares.values())) <= abs(sum(paid.values())):
            own_parts = money.own_parts(shares, paid, expense.number, expense.places)
            for user, amount_minor in own_parts.items():
                sums[expense.trip_id, user]["share_minor"] += amount_minor


def _expense_faults(
    expense: Expense,
    payments: dict[int, Payment],
    parts: dict[int, Part],
    owed: dict[tuple[int, int], int],
) -> Iterator[str]:
    """Descriptions of what is wrong with one expense.

    `payments` and `parts` are those of each user, `owed` is what a debtor owes a creditor.
    """
    yield from _amount(expense)
    paid, shares = amounts(payments), amounts(parts)
    entered_minor = sum(payment.entered_minor for payment in payments.values())
    if sum(paid.values()) != expense.amount_minor or entered_minor != expense.entered_minor:
        yield f"the payers paid {sum(paid.values())} of {expense.amount_minor}"
        return
    sign = expense.money.sign
    if any(minor * sign < 0 for minor in (*paid.values(), *shares.values())):
        yield "a payer or a split does not have the sign of the amount"
        return
    if sign * sum(shares.values()) > sign * expense.amount_minor:
        yield f"the splits are {sum(shares.values())} of {expense.amount_minor}"
        return
    if expense.is_division:
        yield from _share_faults(expense, parts, shares)
    expected = money.debts(shares, paid, expense.number, expense.places)
    for pair in sorted(expected.keys() | owed.keys()):
        if expected.get(pair, 0) != owed.get(pair, 0):
            yield (
                f"user {pair[0]} owes user {pair[1]} {owed.get(pair, 0)}, "
                f"it should be {expected.get(pair, 0)}"
            )


def _share_faults(
    expense: Expense, parts: dict[int, Part], shares: dict[int, int]
) -> Iterator[str]:
    try:
        division, seed = expense.division(parts), expense.number
        expected = division.parts(expense.money, seed, expense.places) if parts else {}
    except ValidationError as error:
        yield f"the entered values do not divide it: {error.detail}"
        return
    if not parts:
        yield "it has no splits"
    for user, part in expected.items():
        if part.amount_minor != shares[user]:
            yield f"the split of user {user} is {shares[user]}, it should be {part.amount_minor}"


def _amount(row: Expense | Settlement) -> Iterator[str]:
    """What is wrong with the amount in the trip's currency."""
    amount_minor = row.entered_minor
    if row.exchange_rate is not None:
        amount_minor = convert(amount_minor, row.currency, row.trip.currency, row.exchange_rate)
    if amount_minor != row.amount_minor:
        yield f"the amount is {row.amount_minor}, converted it is {amount_minor}"


def _allocations(joins: Joins) -> Iterator[Difference]:
    """Checks debts and settlements against their allocations."""
    columns = ("trip", "id", "amount_minor")
    debts = joins.with_allocated(Debt.objects.filter(joins.of_trip), "debt", "covered_minor")
    uneven = debts.exclude(amount_minor=F("open_minor") + F("covered_minor"))
    for trip, pk, amount, is_open, used in streamed(
        uneven, *columns, "open_minor", "covered_minor"
    ):
        yield Difference(trip, f"debt {pk}: {is_open} of {amount} is open, {used} is covered")
    of_trip = Settlement.with_offsets.filter(joins.of_trip)
    settlements = joins.with_allocated(of_trip, "settlement", "used_minor")
    uneven_money = settlements.exclude(amount_minor=F("credit_minor") + F("used_minor"))
    for trip, pk, amount, credit, used in streamed(
        uneven_money, *columns, "credit_minor", "used_minor"
    ):
        yield Difference(trip, f"settlement {pk}: {credit} of {amount} is credit, {used} is used")
    between_others = (
        ~Q(settlement__sender=F("debt__debtor"))
        | ~Q(settlement__receiver=F("debt__creditor"))
        | ~Q(settlement__trip=F("debt__trip"))
    )
    rows = Allocation.objects.filter(joins("settlement", "debt"), between_others, closed_by=None)
    rows = rows.filter(joins.among("settlement", Settlement))
    for allocation in rows.select_related("settlement").iterator():
        trip_id = allocation.settlement.trip_id if allocation.settlement else 0
        text = f"allocation {allocation.pk}: debt and settlement of different people"
        yield Difference(trip_id, text)


def _debts_of_others(of_trip: Q) -> Iterator[Difference]:
    """Checks that each debt is one of the participant of its split, in a refund owed to them."""
    participant = Q(amount_minor__gte=0, participant=OuterRef("debtor"))
    participant |= Q(amount_minor__lt=0, participant=OuterRef("creditor"))
    same = {"pk": OuterRef("split"), "expense__trip": OuterRef("trip"), "trip": OuterRef("trip")}
    own = Split.objects.filter(participant, **same)
    for debt in Debt.objects.filter(of_trip).filter(~Exists(own)).iterator():
        yield Difference(debt.trip_id, f"debt {debt.pk}: it does not match its split")


def _trips_of_rows(of_trip: Q) -> Iterator[Difference]:
    """Checks that each row has the same trip as the row that it belongs to."""
    tables: list[tuple[Any, str, Any]] = [
        (Expense, "expense", Payer),
        (Expense, "expense", Split),
        *((Expense, "expense", rows.model) for rows in added_rows().values()),
        (Debt, "debt", Allocation),
        (Settlement, "settlement", Allocation),
        (Settlement, "closed_by", Allocation),
        (Settlement, "closing", Settlement),
    ]
    for parents, name, model in tables:
        known = parents._base_manager.filter(pk=OuterRef(name), trip=OuterRef("trip"))
        rows = model._base_manager.filter(~Exists(known), **{f"{name}__isnull": False})
        if of_trip:
            rows = rows.filter(**{f"{name}__in": parents._base_manager.filter(of_trip)})
        if not (found := list(streamed(rows.order_by("pk"), name, "pk", "trip"))):
            continue
        ids = {parent for parent, _pk, _stored in found}
        trips = dict(parents._base_manager.filter(pk__in=ids).values_list("pk", "trip"))
        # Expenses that were deleted while a plugin was left out have rows of it.
        for parent, pk, stored in (row for row in found if row[0] in trips):
            text = f"{model.__name__} {pk} is stored as one of trip {stored}"
            yield Difference(trips[parent], text)


def _members(of_trip: Q, sums: Sums) -> Iterator[Difference]:
    """Checks that the members' sums are correct and balance, and that each trip has an OWNER.

    Each balance must be what is open and credit in their favour, less what is against them.
    """
    totals: Counter[int] = Counter()
    open_sums = _open_sums(of_trip, sums)
    members = Member.objects.filter(of_trip)
    for trip, user, *stored in streamed(members, "trip", "user", *KEPT_SUMS):
        expected = sums.pop((trip, user), Counter())
        for name, amount_minor in zip(KEPT_SUMS, stored, strict=True):
            if amount_minor != expected[name]:
                text = f"{name} is {amount_minor}, it should be {expected[name]}"
                yield Difference(trip, f"user {user}: {text}")
        paid_minor, share_minor, sent_minor, received_minor, _owed_minor = stored
        balance_minor = paid_minor - share_minor + sent_minor - received_minor
        if (open_minor := open_sums.pop((trip, user), 0)) != balance_minor:
            text = f"the balance is {balance_minor}, open debts and credit make {open_minor}"
            yield Difference(trip, f"user {user}: {text}")
        totals[trip] += balance_minor
    for trip, user in sums.keys() | open_sums.keys():
        if any(sums[trip, user].values()) or open_sums[trip, user]:
            yield Difference(trip, f"user {user} has entries but no membership")
    for trip, total_minor in totals.items():
        if total_minor:
            yield Difference(trip, f"the balances add up to {total_minor}")
    # Guests may be left when the last owner has deleted their account.
    present = Member.objects.present().filter(of_trip, user__is_guest=False)
    owned = Member.objects.owners().filter(trip=OuterRef("trip"))
    ownerless = present.filter(~Exists(owned)).order_by("trip")
    for trip in ownerless.values_list("trip", flat=True).distinct():
        yield Difference(trip, "it has members but no owner who can log in")


def _closings(joins: Joins) -> Iterator[Difference]:
    """Checks that each closing offset for everybody as much as it used up of their credit."""
    offsets = Settlement.with_offsets.filter(joins.of_trip, closing__isnull=False)
    used = Allocation.objects.filter(joins.of_trip, closed_by__isnull=False)
    of_credit = used.filter(joins("settlement"), settlement__isnull=False)
    # The person comes first in whose favour it is.
    sides: list[tuple[QuerySet[Any], str, str, str]] = [
        (offsets, "closing", "sender", "receiver"),
        (of_credit, "closed_by", "settlement__receiver", "settlement__sender"),
    ]
    # Older releases closed debts without an offset.
    halves = used.filter(settlement=None)
    if old := list(halves.order_by().values_list("trip", "closed_by").distinct()):
        of_debts = halves.filter(joins("debt"))
        sides.append((of_debts, "closed_by", "debt__debtor", "debt__creditor"))
    for trip, closing_id in old:
        text = f"closing {closing_id}: an older release left it without offsets; see --mend"
        yield Difference(trip, text)
    effects: Counter[tuple[int, int, int]] = Counter()
    for rows, *columns in sides:
        for (trip, closing, to, of), minor in _sums(rows, *columns, "amount_minor"):
            effects[trip, closing, to] += minor
            effects[trip, closing, of] -= minor
    for (trip, closing_id, user), minor in sorted(effects.items()):
        if minor:
            yield Difference(trip, f"closing {closing_id}: it leaves user {user} {minor}")


def _open_sums(of_trip: Q, sums: Sums) -> Counter[tuple[int, int]]:
    """Open debts and credit in favour of each person, less those against them.

    It adds the debts to the members' `sums`.
    """
    found: Counter[tuple[int, int]] = Counter()
    debts = Debt.objects.filter(of_trip, open_minor__gt=0)
    for (trip, debtor, creditor), minor in _sums(debts, "debtor", "creditor", "open_minor"):
        sums[trip, debtor]["owed_minor"] += minor
        found[trip, debtor] -= minor
        found[trip, creditor] += minor
    credit = Settlement.with_offsets.with_credit().filter(of_trip)
    for (trip, sender, receiver), minor in _sums(credit, "sender", "receiver", "credit_minor"):
        found[trip, sender] += minor
        found[trip, receiver] -= minor
    return found


def _sums(rows: QuerySet[Any], *columns: str) -> Iterator[tuple[Any, int]]:
    """The sums of the last column, by the trip and the others."""
    *by, column = ("trip", *columns)
    sums = rows.order_by().values(*by).annotate(total_minor=Sum(column))
    for *key, minor in streamed(sums, *by, "total_minor"):
        yield tuple(key), int(minor)


def audited(trip_id: int | None = None) -> QuerySet[Trip]:
    """The trips that `differences` reads."""
    return Trip.objects.all() if trip_id is None else Trip.objects.filter(pk=trip_id)
