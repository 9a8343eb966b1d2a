"""Loads the demo data: believable travellers and trips, the same every time."""

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
from tqdm import tqdm  # type: ignore[import-untyped]

from splits.management.demo_data import JOURNEYS, PEOPLE, Journey, Person
from splits.models import Division, Expense, Rate, Settlement, Split, SplitType
from splits.models.balances import Plan
from splits.models.division import SCALE
from tripcompanion.environment import require_development
from tripcompanion.kit.currencies import Amount, to_minor
from trips.models import Trip
from trips.models.trip import CODE_ALPHABET
from trips.roles import TripRole
from users.emails import email_key
from users.models import User
from users.serializers import PASSWORD_EXAMPLE

#: Known to everybody: the documentation's examples log in with it.
PASSWORD = PASSWORD_EXAMPLE
MAX_SCALE = 1000


class Command(BaseCommand):
    """A trip is loaded in one transaction, or not at all; one that is here is left alone."""

    # Looking at the URLs takes longer than finding the data there.
    requires_system_checks = ()
    help = "Load the demo data, and say who can log in. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--scale", type=int, default=1, help="how many times, the copies with numbered names"
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="load it under production settings too, and beside accounts of other people",
        )

    def handle(self, *args: Any, scale: int, force: bool, **options: Any) -> None:
        if not settings.DEBUG and not force:
            raise CommandError(
                "The demo accounts, an ADMIN among them, have a known password. "
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
        # Off a terminal there is no bar, and with nothing to load neither.
        with tqdm(total=expenses, unit=" expenses", disable=None if missing else True) as bar:
            for journey, copy in missing:
                with transaction.atomic():
                    Loading(journey, copy, people[copy]).run(bar)
        self.stdout.write(f"The password of everybody is {PASSWORD}")
        for person in PEOPLE:
            role = " (ADMIN)" if person.is_admin else ""
            self.stdout.write(f"  {_email(person, 0):<19} {person.name}{role}")


class Loading:
    """One journey of the tables as a trip, made through the commands of the models."""

    def __init__(self, journey: Journey, copy: int, people: Mapping[str, User]) -> None:
        self.journey = journey
        self.people = people
        self.start = date.fromisoformat(journey.start)
        owner, *others = journey.members
        self.owner = people[owner]
        booked_at = _evening(self.start - timedelta(days=60))
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
        if self.journey.settled_up:
            Plan.record(self.trip, self.owner, Plan(self.trip).tag)

    def _record(
        self, day: str, description: str, category: str, amount: str, paid: str, divided: str
    ) -> None:
        number, *foreign = amount.split()
        currency = foreign[0] if foreign else self.trip.currency
        entered_minor = to_minor(Decimal(number), currency)
        first, *_others = paid.split()
        put_in = self._figures(paid, currency) or {self.people[first].pk: entered_minor}
        may_record = self.journey.members[first] != TripRole.VIEWER
        recorded_at = _evening(self._day(int(day)))
        Expense.record(
            self.trip,
            self.people[first] if may_record else self.owner,
            put_in=put_in,
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
        """`olga 2 ed 3.5` by user id: in minor units, or without a currency ten-thousandths."""
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
    """Raise `CommandError` if accounts are to be made beside some that the demo did not make.

    Where people have accounts of their own, an ADMIN with a known password is a back door.
    """
    wanted = {email_key(_email(person, copy)) for copy in range(scale) for person in PEOPLE}
    accounts = User.objects.present()
    if accounts.filter(email_key__in=wanted).count() == len(wanted):
        return
    names = "|".join(person.key for person in PEOPLE)
    if accounts.exclude(email_key__regex=rf"^({names})[0-9]*@example\.com$").exists():
        raise CommandError(
            "This database has accounts that are not of the demo, whose accounts have a known "
            "password. They are added only with --force."
        )


def _missing(scale: int) -> Iterator[tuple[Journey, int]]:
    """The journeys that are not here yet, each with the number of its copy."""
    wanted = {
        _code(journey, copy): (journey, copy) for copy in range(scale) for journey in JOURNEYS
    }
    here = set(Trip.objects.filter(code__in=wanted).values_list("code", flat=True))
    return (journey for code, journey in wanted.items() if code not in here)


def _people(copy: int) -> dict[str, User]:
    """The accounts of one copy by key; who is not here yet is registered."""
    keys = {email_key(_email(person, copy)): person for person in PEOPLE}
    users = {user.email_key: user for user in User.objects.filter(email_key__in=keys)}
    with transaction.atomic():
        for key, person in keys.items():
            if key not in users:
                make = User.objects.create_superuser if person.is_admin else User.register
                user = make(_email(person, copy), PASSWORD, _numbered(person.name, copy))
                user.change(by=None, currency=person.currency)
                user.verify_email()
                users[key] = user
    return {person.key: users[key] for key, person in keys.items()}


def _rows(journey: Journey) -> list[list[str]]:
    lines = journey.expenses.strip().splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def _code(journey: Journey, copy: int) -> str:
    """The trip's code, by which it is known again: a word, and the copy in three letters."""
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
