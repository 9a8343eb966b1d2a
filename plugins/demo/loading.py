"""Loads a trip of the demo through the commands of the models, and dates it in the past."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from django.db.models import F, Max, OuterRef, Subquery
from tqdm import tqdm

from plugins.comments.models import Comment
from plugins.demo.data import JOURNEYS, Journey
from plugins.invitations.accepting import accept
from plugins.invitations.models import Invitation
from splits.models import Allocation, Debt, Division, Expense, Settlement, Split, SplitType
from splits.models.division import OF_AMOUNTS
from splits.models.items import SCALE, Item, Items
from splits.reports.balances import Plan
from tripcompanion.currency.amounts import Amount, to_minor
from tripcompanion.plugin import plugins
from trips.models import JournalEntry, Member, Trip, note_answer
from trips.models.joining import CODE_ALPHABET
from trips.models.journal import as_text
from trips.roles import DEFAULT_ROLE, Can, may
from users.models import User

#: The order of events in a trip: it is booked, then come comments and payments.
BOOKED_BEFORE = timedelta(days=60)
PAID_AFTER = timedelta(hours=14)
COMMENTED_AFTER = timedelta(hours=2)


class Loading:
    """Creates the trip of one journey through the commands of the models."""

    def __init__(self, journey: Journey, copy: int, people: Mapping[str, User]) -> None:
        self.journey = journey
        self.people = dict(people)
        self.start = journey.start
        owner, *others = journey.members
        self.owner = people[owner]
        booked_at = _evening(self.start - BOOKED_BEFORE)
        self.trip = Trip.start(
            self.owner,
            title=numbered(journey.title, copy),
            destination=journey.destination,
            description=journey.description,
            start_date=self.start,
            end_date=self.start + timedelta(days=journey.days - 1),
            currency=journey.currency,
            budget_minor=to_minor(Decimal(journey.budget), journey.currency),
            join_role=journey.join_role,
            code=code_of(journey, copy),
            created_at=booked_at,
            updated_at=booked_at,
        )
        for key in others:
            if key not in journey.claimed:
                role = journey.members[key]
                Member.add(self.trip, self.owner, user_id=people[key].pk, role=role)
                note_answer(people[key], self.trip.pk)
        for key, name in (journey.guests | journey.claimed).items():
            self.people[key] = Member.add_guest(self.trip, self.owner, name).user
        self.accounts = people
        #: When the expenses that are now deleted had been recorded.
        self.recorded_at: dict[int, datetime] = {}

    def run(self, bar: tqdm) -> None:
        for row in rows_of(self.journey):
            self._record(*row)
            bar.update()
        for key in self.journey.claimed:
            self._claim(key)
        for key, description in self.journey.paid:
            splits = Split.objects.filter(trip=self.trip, participant=self.people[key])
            splits = splits.filter(expense__trip=F("trip"))
            splits.get(expense__description__startswith=description).pay(by=self.people[key])
        for key, description, text in self.journey.comments:
            expense = self.trip.expenses.get(description__startswith=description)
            comment = Comment.write(expense, self.people[key], text)
            at = expense.created_at + COMMENTED_AFTER
            Comment.objects.filter(pk=comment.pk).update(created_at=at, updated_at=at)
        for sender, receiver, amount, day, note in self.journey.settlements:
            Settlement(
                trip=self.trip,
                sender=self.people[sender],
                receiver=self.people[receiver],
                settled_on=self._day(day),
                note=note,
                created_by=self.people[sender],
                created_at=_evening(self._day(day)),
            ).record(Amount(Decimal(amount), self.trip.currency))
        for key, description in self.journey.deleted:
            expense = self.trip.expenses.get(description__startswith=description)
            self.recorded_at[expense.pk] = expense.created_at
            expense.remove(self.people[key])
        if self.journey is JOURNEYS[0]:
            for app in plugins():
                app.demo(self.trip, {key: self.people[key] for key in self.journey.members})
        for note in self.journey.invitations:
            Invitation.issue(self.trip, self.owner, role=self.trip.join_role, note=note, max_uses=3)
        plan = Plan(self.trip).tag if self.journey.settled_up else ""
        self._date(Plan.record(self.trip, self.owner, plan) if plan else [])

    def _claim(self, key: str) -> None:
        """Let an account take the place of its guest, by an invitation."""
        invitation = Invitation.issue(
            self.trip, self.owner, role=self.journey.members[key], guest_user_id=self.people[key].pk
        )
        self.people[key] = self.accounts[key]
        accept(invitation.token, self.accounts[key])
        Invitation.objects.filter(pk=invitation.pk).update(created_at=self.trip.created_at)

    def _date(self, planned: list[Settlement]) -> None:
        """Change the dates of members, splits, payments and debts from now to then."""
        trip, home_at = self.trip, _evening(self._day(self.journey.days))
        trip.members.update(joined_at=trip.created_at)
        guests = list(trip.members.filter(user__is_guest=True).values_list("user", flat=True))
        at = trip.created_at
        User.objects.filter(pk__in=guests).update(created_at=at, updated_at=at)
        expenses = Expense.objects.filter(trip=OuterRef("trip"), pk=OuterRef("expense"))
        splits = Split.objects.filter(trip=trip)
        splits.update(created_at=Subquery(expenses.values("created_at")))
        paid = list(trip.settlements.filter(split__isnull=False))
        split_at = dict(splits.values_list("pk", "created_at"))
        for payment in paid:
            payment.created_at = split_at[payment.split_id or 0] + PAID_AFTER
        for payment in planned:
            payment.created_at = home_at
        for payment in (*paid, *planned):
            payment.settled_on = payment.created_at.date()
        Settlement.objects.bulk_update([*paid, *planned], ["created_at", "settled_on"])
        debts = list(Debt.objects.filter(trip=trip).exclude(covered_at=None))
        paying = Allocation.objects.filter(debt__in=debts, settlement__trip=F("trip"))
        paid_at = dict(paying.values_list("debt").annotate(Max("settlement__created_at")))
        closing = paying.filter(settlement__closing__isnull=False)
        closed = set(closing.values_list("debt", flat=True))
        for debt in debts:
            at = home_at if debt.pk in closed else paid_at[debt.pk]
            debt.covered_at = max(split_at[debt.split_id], at)
        Debt.objects.bulk_update(debts, ["covered_at"])
        self._date_journal()

    def _date_journal(self) -> None:
        """Give the rows of the journal the dates of their objects, in ascending order."""
        rows, latest = list(self.trip.journal.order_by("number")), self.trip.created_at
        expenses = dict(self.trip.expenses.values_list("pk", "created_at")) | self.recorded_at
        settlements = {row.pk: row for row in self.trip.settlements.all()}
        for row in rows:
            if row.object_type == "settlement":
                settlement, changes = settlements[row.object_id], row.changes
                latest = max(latest, settlement.created_at)
                changes["settledOn"]["new"] = settlement.settled_on
                row.stored_changes = as_text(changes)
            elif row.expense_id is not None:
                latest = max(latest, expenses[row.expense_id])
            row.at = latest
        JournalEntry.objects.bulk_update(rows, ["at", "stored_changes"])

    def _record(
        self, day: str, description: str, category: str, amount: str, paid: str, divided: str
    ) -> None:
        description, *tags = description.split(" #")
        number, *foreign = amount.split()
        currency = foreign[0] if foreign else self.trip.currency
        entered_minor = to_minor(Decimal(number), currency)
        first, *_others = paid.split()
        paid_by_user = self._figures(paid, currency) or {self.people[first].pk: entered_minor}
        may_record = may(self.journey.members.get(first, DEFAULT_ROLE), Can.RECORD, lambda: False)
        recorded_at = _evening(self._day(int(day)))
        Expense.record(
            self.trip,
            self.people[first] if may_record else self.owner,
            paid_by_user=paid_by_user,
            division=self._division(divided, currency),
            description=description,
            tags=tags,
            entered_minor=entered_minor,
            currency=currency,
            exchange_rate=Decimal(foreign[1]) if foreign else None,
            expense_date=self._day(int(day)),
            category=category,
            created_at=recorded_at,
            updated_at=recorded_at,
        )

    def _division(self, divided: str, currency: str) -> Division:
        word, _blank, figures = divided.partition(" ")
        if word not in SplitType.values:
            keys = self.journey.members if divided == "all" else divided.split()
            return Division(SplitType.EQUAL, tuple(self.people[key].pk for key in keys), None)
        if word == SplitType.ITEMIZED:
            return self._by_items(figures, currency)
        entered = self._figures(figures, currency if word in OF_AMOUNTS else None)
        return Division(word, tuple(entered), entered)

    def _by_items(self, text: str, currency: str) -> Division:
        """`Fish: 10.50 olga ed; tip: 2`: items with those who share them, and what is added."""
        lines, extras = [], {}
        for cell in text.split(";"):
            name, _colon, rest = cell.strip().partition(":")
            amount, *keys = rest.split()
            minor = to_minor(Decimal(amount), currency)
            if keys:
                lines.append(Item(name, minor, {self.people[key].pk: SCALE for key in keys}))
            else:
                extras[name] = minor
        items = Items(tuple(lines), extras)
        return Division(SplitType.ITEMIZED, items.people, None, items)

    def _figures(self, text: str, currency: str | None) -> dict[int, int]:
        """`olga 2 ed 3.5` by user id, in minor units; without a currency, in ten-thousandths."""
        words = text.split()
        return {
            self.people[key].pk: to_minor(Decimal(figure), currency)
            if currency
            else int(Decimal(figure) * SCALE)
            for key, figure in zip(words[::2], words[1::2], strict=False)
        }

    def _day(self, day: int) -> date:
        return self.start + timedelta(days=day)


def rows_of(journey: Journey) -> list[list[str]]:
    """The rows of the table of expenses."""
    lines = journey.expenses.strip().splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def code_of(journey: Journey, copy: int) -> str:
    """The trip's code, which identifies it: a word, and the copy in three letters."""
    letters = ""
    for _position in range(3):
        copy, letter = divmod(copy, len(CODE_ALPHABET))
        letters = CODE_ALPHABET[letter] + letters
    return journey.code + letters


def numbered(name: str, copy: int) -> str:
    """`name`, followed by a number unless this is the first copy."""
    return f"{name} {copy + 1}" if copy else name


def _evening(day: date) -> datetime:
    return datetime.combine(day, time(19, 30), UTC)
