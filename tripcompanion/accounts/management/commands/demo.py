"""Loads the demo data: realistic people and trips, the same every time."""

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from tqdm import tqdm

from splits.models import Rate
from tripcompanion.accounts.management.demo_data import JOURNEYS, PEOPLE, Journey, Person
from tripcompanion.accounts.management.demo_loading import Loading, code_of, numbered, rows_of
from tripcompanion.environment import require_development
from trips.models import Trip
from users.emails import email_key
from users.models import User

#: Public: the examples in the documentation log in with it.
PASSWORD = "four-green-suitcases"  # noqa: S105 -- of demo accounts only
MAX_SCALE = 1000
#: Before all trips.
REGISTERED_AT = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)


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
            call_command("load_rates", since=REGISTERED_AT.date(), stdout=StringIO())
        people = [_people(copy) for copy in range(scale)]
        missing = list(_missing(scale))
        expenses = sum(len(rows_of(journey)) for journey, _copy in missing)
        # No progress bar without a terminal, or if there is nothing to load.
        with tqdm(total=expenses, unit=" expenses", disable=None if missing else True) as bar:
            for journey, copy in missing:
                with transaction.atomic():
                    Loading(journey, copy, people[copy]).run(bar)
        self.stdout.write(f"The password of everybody is {PASSWORD}")
        for person in PEOPLE:
            role = " (ADMIN)" if person.is_admin else ""
            self.stdout.write(f"  {_email(person, 0):<19} {person.name}{role}")


def _require_no_strangers(scale: int) -> None:
    """Raise `CommandError` if accounts must be created, but others than the demo's exist.

    In a database with real accounts, an ADMIN with a public password is a back door.
    """
    wanted = {email_key(_email(person, copy)) for copy in range(scale) for person in PEOPLE}
    accounts = User.objects.present().filter(is_guest=False)
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
        code_of(journey, copy): (journey, copy) for copy in range(scale) for journey in JOURNEYS
    }
    here = set(Trip.objects.filter(code__in=wanted).values_list("code", flat=True))
    return (journey for code, journey in wanted.items() if code not in here)


def _people(copy: int) -> dict[str, User]:
    """The accounts of one copy, by key. Those that are missing are registered."""
    keys = {email_key(_email(person, copy)): person for person in PEOPLE}
    users = {user.email_key: user for user in User.objects.filter(email_key__in=keys)}
    new: list[int] = []
    with transaction.atomic():
        for key, person in keys.items():
            if key not in users:
                make = User.objects.create_superuser if person.is_admin else User.register
                user = make(_email(person, copy), PASSWORD, numbered(person.name, copy))
                user.change(by=None, currency=person.currency)
                user.verify_email()
                users[key] = user
                new.append(user.pk)
        instants = ("created_at", "updated_at", "email_verified_at")
        User.objects.filter(pk__in=new).update(**dict.fromkeys(instants, REGISTERED_AT))
    return {person.key: users[key] for key, person in keys.items()}


def _email(person: Person, copy: int) -> str:
    return f"{person.key}{copy + 1 if copy else ''}@example.com"
