"""Loads the demo data: realistic people and trips, the same every time."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.db.models import Max, OuterRef, Subquery
from tqdm import tqdm

from splits.management.demo_data import JOURNEYS, PEOPLE, Journey, Person
from splits.models import (
    Allocation,
    Comment,
    Debt,
    Division,
    Expense,
    Rate,
    Settlement,
    Split,
    SplitType,
)
from splits.models.division import SCALE
from splits.reports.balances import Plan
from tripcompanion.currency.amounts import Amount, to_minor
from tripcompanion.environment import require_development
from trips.models import JournalEntry, Trip
from trips.models.joining import CODE_ALPHABET
from trips.models.journal import as_text
from trips.roles import TripRole
from users.emails import email_key
from users.models import User

#: Public: the examples in the documentation log in with it.
PASSWORD = "four-green-suitcases"  # noqa: S105 -- of demo accounts only
MAX_SCALE = 1000
#: The calendar of the demo: accounts, then trips, then payments.
REGISTERED_AT = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
BOOKED_BEFORE = timedelta(days=60)
PAID_AFTER = timedelta(hours=14)
COMMENTED_AFTER = timedelta(hours=2)


class Command(BaseCommand):
    """Each trip is loaded in one transaction; a trip that exists is left unchanged."""

    # Checking the URLs takes longer than finding that the data exists.
    requires_system_checks = ()
    help = "Load the demo data and list its accounts. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--scale", type=int, default=1, help="how many copies to load; their names are numbered"
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="load it also with production settings, or beside accounts of other people",
        )

    def handle(self, *args: Any, scale: int, force: bool, **options: Any) -> None:
        if not settings.DEBUG and not force:
            raise CommandError(
                "The demo accounts, including an ADMIN, have a public password. "
                "Without DEBUG=true they are loaded only with --force."
            )
        if not 1 <= scale <= MAX_SCALE:
            raise CommandError(f"--scale must be from 1 to {MAX_SCALE}.")
        if not force:
            require_development(settings.BASE_DIR / ".env")
            _require_no_strangers(scale)
        if not Rate.objects.exists():
            call_command("load_rates", stdout=StringIO())
        people = [_people(copy) for copy in range(scale)]
        missing = list(_missing(scale))
        expenses = sum(len(_rows(journey)) for journey, _copy in missing)
        # No progress bar without a terminal, or if there is nothing to load.
        with tqdm(total=expenses, unit=" expenses", disable=None if missing else True) as bar:
            for journey, copy in missing:
                with transaction.atomic():
                    Loading(journey, copy, people[copy]).run(bar)
        self.stdout.write(f"The password of everybody is {PASSWORD}")
        for person in PEOPLE:
            role = " (ADMIN)" if person.is_admin else ""
            self.stdout.write(f"  {_email(person, 0):<19} {person.name}{role}")


class Loading:
    """Creates the trip of one journey through the commands of the models."""

    def __init__(self, journey: Journey, copy: int, people: Mapping[str, User]) -> None:
        self.journey = journey
        self.people = people
        self.start = date.fromisoformat(journey.start)
        owner, *others = journey.members
        self.owner = people[owner]
        booked_at = _evening(self.start - BOOKED_BEFORE)
        self.trip = Trip.start(
            self.owner,
            title=_numbered(journey.title, copy),
            destination=journey.destination,
            description=journey.description,
            start_date=self.start,
            end_date=self.start + timedelta(days=journey.days - 1),
            currency=journey.currency,
            budget_minor=to_minor(Decimal(journey.budget), journey.currency),
            join_role=TripRole.EDITOR,
            code=_code(journey, copy),
            created_at=booked_at,
            updated_at=booked_at,
        )
        for key in others:
            self.trip.admit(people[key], journey.members[key])

    def run(self, bar: tqdm) -> None:
        for row in _rows(self.journey):
            self._record(*row)
            bar.update()
        for key, description in self.journey.paid:
            splits = Split.objects.filter(expense__trip=self.trip, participant=self.people[key])
            splits.get(expense__description__startswith=description).pay(by=self.people[key])
        for key, description, text in self.journey.comments:
            expense = self.trip.expenses.get(description__startswith=description)
            comment = Comment.write(expense, self.people[key], text)
            written_at = expense.created_at + COMMENTED_AFTER
            Comment.objects.filter(pk=comment.pk).update(
                created_at=written_at, updated_at=written_at
            )
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
        plan = Plan(self.trip).tag if self.journey.settled_up else ""
        self._date(Plan.record(self.trip, self.owner, plan) if plan else [])

    def _date(self, planned: list[Settlement]) -> None:
        """Date what the commands dated with the present: members, splits, payments and debts."""
        trip, home_at = self.trip, _evening(self._day(self.journey.days))
        trip.members.update(joined_at=trip.created_at)
        recorded_at = Expense.objects.filter(pk=OuterRef("expense")).values("created_at")
        splits = Split.objects.filter(expense__trip=trip)
        splits.update(created_at=Subquery(recorded_at))
        paid = list(trip.settlements.filter(split__isnull=False))
        split_at = dict(splits.values_list("pk", "created_at"))
        for payment in paid:
            payment.created_at = split_at[payment.split_id or 0] + PAID_AFTER
        for payment in planned:
            payment.created_at = home_at
        for payment in (*paid, *planned):
            payment.settled_on = payment.created_at.date()
        Settlement.objects.bulk_update([*paid, *planned], ["created_at", "settled_on"])
        trip.closed_periods.update(closed_at=home_at)
        debts = list(Debt.objects.filter(trip=trip).exclude(covered_at=None))
        paid_at = dict(
            Allocation.objects.filter(debt__in=debts)
            .values_list("debt")
            .annotate(Max("settlement__created_at"))
        )
        for debt in debts:
            debt.covered_at = max(split_at[debt.split_id], paid_at[debt.pk])
        Debt.objects.bulk_update(debts, ["covered_at"])
        self._date_journal()

    def _date_journal(self) -> None:
        """Date the journal like its objects; no row is before the one that it follows."""
        rows, latest = list(self.trip.journal.order_by("number")), self.trip.created_at
        expenses = dict(self.trip.expenses.values_list("pk", "created_at"))
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
        number, *foreign = amount.split()
        currency = foreign[0] if foreign else self.trip.currency
        entered_minor = to_minor(Decimal(number), currency)
        first, *_others = paid.split()
        paid_by_user = self._figures(paid, currency) or {self.people[first].pk: entered_minor}
        may_record = self.journey.members[first] != TripRole.VIEWER
        recorded_at = _evening(self._day(int(day)))
        Expense.record(
            self.trip,
            self.people[first] if may_record else self.owner,
            paid_by_user=paid_by_user,
            division=self._division(divided, currency),
            description=description,
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
        entered = self._figures(figures, currency if word == SplitType.MANUAL else None)
        return Division(word, tuple(entered), entered)

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


def _require_no_strangers(scale: int) -> None:
    """Raise `CommandError` if accounts must be created and there are some not from the demo.

    In a database with real accounts, an ADMIN with a public password is a back door.
    """
    wanted = {email_key(_email(person, copy)) for copy in range(scale) for person in PEOPLE}
    accounts = User.objects.present()
    if accounts.filter(email_key__in=wanted).count() == len(wanted):
        return
    names = "|".join(person.key for person in PEOPLE)
    if accounts.exclude(email_key__regex=rf"^({names})[0-9]*@example\.com$").exists():
        raise CommandError(
            "This database has accounts that are not from the demo. The demo accounts have a "
            "public password and are added only with --force."
        )


def _missing(scale: int) -> Iterator[tuple[Journey, int]]:
    """The journeys that are not loaded yet, each with the number of its copy."""
    wanted = {
        _code(journey, copy): (journey, copy) for copy in range(scale) for journey in JOURNEYS
    }
    here = set(Trip.objects.filter(code__in=wanted).values_list("code", flat=True))
    return (journey for code, journey in wanted.items() if code not in here)


def _people(copy: int) -> dict[str, User]:
    """The accounts of one copy by key; missing ones are registered."""
    keys = {email_key(_email(person, copy)): person for person in PEOPLE}
    users = {user.email_key: user for user in User.objects.filter(email_key__in=keys)}
    new: list[int] = []
    with transaction.atomic():
        for key, person in keys.items():
            if key not in users:
                make = User.objects.create_superuser if person.is_admin else User.register
                user = make(_email(person, copy), PASSWORD, _numbered(person.name, copy))
                user.change(by=None, currency=person.currency)
                user.verify_email()
                users[key] = user
                new.append(user.pk)
        instants = ("created_at", "updated_at", "email_verified_at")
        User.objects.filter(pk__in=new).update(**dict.fromkeys(instants, REGISTERED_AT))
    return {person.key: users[key] for key, person in keys.items()}


def _rows(journey: Journey) -> list[list[str]]:
    lines = journey.expenses.strip().splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def _code(journey: Journey, copy: int) -> str:
    """The trip's code, which identifies it: a word, and the copy in three letters."""
    letters = ""
    for _position in range(3):
        copy, letter = divmod(copy, len(CODE_ALPHABET))
        letters = CODE_ALPHABET[letter] + letters
    return journey.code + letters


def _email(person: Person, copy: int) -> str:
    return f"{person.key}{copy + 1 if copy else ''}@example.com"


def _numbered(name: str, copy: int) -> str:
    return f"{name} {copy + 1}" if copy else name


def _evening(day: date) -> datetime:
    return datetime.combine(day, time(19, 30), UTC)
