"""Loads the demo data: realistic people and trips, the same every time."""

from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from textwrap import shorten
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from rest_framework.exceptions import APIException
from tqdm import tqdm

from plugins.demo.data import JOURNEYS, PEOPLE, Journey, Person
from plugins.demo.loading import Loading, code_of, numbered, rows_of
from plugins.exchange.models import Import
from splits.models import Rate
from tripcompanion.environment import require_development
from trips.models import Trip
from users.emails import email_key
from users.models import User

#: Public: the examples in the documentation log in with it.
PASSWORD = "four-green-suitcases"  # noqa: S105 -- of demo accounts only
MAX_SCALE = 1000
#: Before all trips.
REGISTERED_AT = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
#: The answers of Splitwise's API, and who imports them.
GROUP = Path(__file__).parents[2] / "demo_splitwise.json"
IMPORTS = "olga"
BESIDE_OTHERS = (
    "This database has accounts that are not from the demo, and the password of the demo accounts "
    "is public. --force adds them."
)


class Command(BaseCommand):
    """Each trip is loaded in one transaction; one that exists, or was deleted, is left unchanged.

    `make run` starts with it, so what cannot be loaded is left out, in a line that says why.
    """

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
        parser.add_argument(
            "--splitwise", action="store_true", help="import a group of Splitwise as well"
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
            require_development(settings.DATA_DIR / ".env")
        keys = {email_key(_email(person, copy)) for copy in range(scale) for person in PEOPLE}
        here = set(User.objects.filter(email_key__in=keys).values_list("email_key", flat=True))
        left_out: dict[str, list[str]] = defaultdict(list)
        if not force and keys - here and _has_strangers():
            left_out[BESIDE_OTHERS] = sorted(keys - here)
        if here or not left_out:
            people = [_people(copy, left_out[BESIDE_OTHERS]) for copy in range(scale)]
            self._load(people, left_out)
            if options["splitwise"]:
                _import_group(people[0].get(IMPORTS), left_out)
            self._list(people[0].values())
        for why, names in left_out.items():
            if names:
                self.stdout.write(f"Left out: {shorten(', '.join(names), 200)}. {why}")

    def _load(self, people: list[dict[str, User]], left_out: dict[str, list[str]]) -> None:
        """Load the journeys that are missing, unless an account of somebody in them is."""
        if not Rate.objects.exists():
            call_command("load_rates", since=REGISTERED_AT.date(), stdout=StringIO())
        missing = list(_missing(len(people)))
        expenses = sum(len(rows_of(journey)) for journey, _copy in missing)
        # No progress bar without a terminal, or if there is nothing to load.
        with tqdm(total=expenses, unit=" expenses", disable=None if missing else True) as bar:
            for journey, copy in missing:
                title = numbered(journey.title, copy)
                if journey.members.keys() <= people[copy].keys():
                    try:
                        with transaction.atomic():
                            Loading(journey, copy, people[copy]).run(bar)
                    except APIException as refusal:
                        left_out[str(refusal)].append(title)
                else:
                    left_out[BESIDE_OTHERS].append(title)

    def _list(self, people: Iterable[User]) -> None:
        self.stdout.write(f"The password of everybody is {PASSWORD}")
        for user in people:
            role = " (ADMIN)" if user.is_admin else ""
            self.stdout.write(f"  {user.email:<19} {user.name}{role}")


def _import_group(importer: User | None, left_out: dict[str, list[str]]) -> None:
    """Import a group of Splitwise, unless that was done before."""
    done = Import.objects.filter(user=importer, choices__contains=GROUP.name)
    if importer is None or done.exclude(confirmed_at=None).exists():
        return
    try:
        call_command("import_trip", GROUP, user=importer.email, confirm=True, stdout=StringIO())
    except CommandError as refusal:
        left_out[str(refusal)].append(GROUP.name)


def _has_strangers() -> bool:
    """Whether there are accounts of others than the people of the demo.

    Beside real accounts, an ADMIN with a public password is a back door.
    """
    names = "|".join(person.key for person in PEOPLE)
    accounts = User.objects.present().exclude(email_key__regex=rf"^({names})[0-9]*@example\.com$")
    return accounts.exists()


def _missing(scale: int) -> Iterator[tuple[Journey, int]]:
    """The journeys that are not loaded yet, each with the number of its copy."""
    wanted = {
        code_of(journey, copy): (journey, copy) for copy in range(scale) for journey in JOURNEYS
    }
    here = set(Trip.objects.filter(code__in=wanted).values_list("code", flat=True))
    return (journey for code, journey in wanted.items() if code not in here)


def _people(copy: int, left_out: Collection[str]) -> dict[str, User]:
    """The accounts of one copy, by key. Those that are missing and not left out are registered."""
    keys = {email_key(_email(person, copy)): person for person in PEOPLE}
    users = {user.email_key: user for user in User.objects.filter(email_key__in=keys)}
    new: list[int] = []
    with transaction.atomic():
        for key, person in keys.items():
            if key not in users and key not in left_out:
                make = User.objects.create_superuser if person.is_admin else User.register
                user = make(_email(person, copy), PASSWORD, numbered(person.name, copy))
                user.change(by=None, currency=person.currency)
                user.verify_email()
                users[key] = user
                new.append(user.pk)
        instants = ("created_at", "updated_at", "email_verified_at")
        User.objects.filter(pk__in=new).update(**dict.fromkeys(instants, REGISTERED_AT))
    return {person.key: users[key] for key, person in keys.items() if key in users}


def _email(person: Person, copy: int) -> str:
    return f"{person.key}{copy + 1 if copy else ''}@example.com"
