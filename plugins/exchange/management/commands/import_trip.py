"""Imports a file of another system, or of this one, for an account."""

import re
from argparse import ArgumentParser
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rest_framework.exceptions import APIException, NotFound
from rest_framework.settings import api_settings

from plugins.exchange.confirming import confirm
from plugins.exchange.models import Import, Outcome
from plugins.exchange.notes import text_of
from plugins.exchange.planning import Choices, plan_import
from plugins.exchange.serializers import ImportOptions
from tripcompanion.api.problems import flatten
from tripcompanion.currency.amounts import CODES
from tripcompanion.observability.progress import Progress
from users.models import User

#: What the fields of the API are called here, if not by their names.
_OPTIONS = {"exchangeRates": "--rate", "mapping": "--person", "timeZone": "--time-zone"}
_OPTIONS |= {"tripId": "--trip"}


class Command(BaseCommand):
    """Like the API, with the rights and quotas of the account, but for files of any size."""

    help = "Import a file of Splitwise, Spliit, Tricount and others; see the README."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="the address of the account")
        parser.add_argument("--confirm", action="store_true", help="record it, not only plan it")
        # Under the names of the API.
        add = parser.add_argument
        add("--trip", type=int, dest="tripId", help="the id of a trip to add to")
        add("--new", action="store_true", dest="asNewTrip", help="make a new trip in any case")
        add("--title", help="of a new trip")
        add("--currency", choices=CODES, metavar="EUR", help="if the file does not say it")
        add("--time-zone", dest="timeZone", help="such as Europe/Madrid")
        add("--group", help="if the file has several")
        pairs: dict[str, Any] = {"action": "append", "default": []}
        add("--person", dest="mapping", metavar="NAME=USER_ID", help="who is who", **pairs)
        add("--rate", dest="exchangeRates", metavar="CHF=0.95", **pairs)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with Progress("Reading the file", self.stderr) as progress:
                stored, user = _plan(options, progress)
            self._show(stored)
            if options["confirm"]:
                with Progress("Recording", self.stderr) as progress:
                    done = confirm(stored.pk, user, partial(progress, unit="batches"))
                self.stdout.write(f"Recorded in trip {done.trip_id}.")
            else:
                stored.delete()
                self.stdout.write("Nothing was recorded; repeat it with --confirm.")
        except NotFound as error:
            raise CommandError("The account is not in the trip that --trip names.") from error
        except APIException as error:
            texts = [f"`{path}`: {text}" for path, texts in flatten(error.detail) for text in texts]
            plain = "\n".join(texts).replace(f"`{api_settings.NON_FIELD_ERRORS_KEY}`: ", "")
            raise CommandError(_with_options(plain)) from error

    def _show(self, stored: Import) -> None:
        plan = stored.plan
        self.stdout.write(f"{stored.format}: {plan.title}, {plan.currency}")
        expenses, settlements = plan.counts["expense"], plan.counts["settlement"]
        self.stdout.write(f"{expenses} expenses, {settlements} payments")
        for code, values in plan.notes:
            self.stdout.write(text_of(code, values))
        rows = stored.rows.exclude(outcome=Outcome.TAKEN).order_by("position")
        for row in rows.iterator():
            texts = " ".join(text_of(code, values) for code, values in row.note_list)
            self.stdout.write(f"line {row.line}: {row.get_outcome_display()}. {texts}")
        for row in plan.balances:
            claimed = "" if row.claimed is None else f"; the file says {_amounts(row.claimed)}"
            why = "".join(f". {text_of(code, values)}" for code, values in row.why)
            self.stdout.write(f"{row.name}: {_amounts(row.ours)}{claimed}{why}")


def _plan(options: dict[str, Any], progress: Any) -> tuple[Import, User]:
    user = User.objects.with_email(options["user"]).first()
    if user is None:
        raise CommandError("There is no account with this address.")
    path: Path = options["file"]
    try:
        numbers = {"mapping": int, "exchangeRates": Decimal}
        options |= {name: _pairs(options[name], read) for name, read in numbers.items()}
        names = ImportOptions().fields.items()
        sent = {name: options[name] for name, _field in names if options.get(name)}
        chosen = ImportOptions(data=sent)
        chosen.is_valid(raise_exception=True)
        choices = Choices(file_name=path.name).changed(chosen.validated_data)
        with path.open("rb") as opened:
            return plan_import(user, opened, choices, progress), user
    except (OSError, ValueError, InvalidOperation) as error:
        raise CommandError(str(error)) from error


def _with_options(text: str) -> str:
    """A text for callers of the API, with the options of this command."""
    return re.sub(r"`(\w+)`", lambda name: _OPTIONS.get(name[1], f"--{name[1]}"), text)


def _amounts(by_currency: dict[str, str]) -> str:
    return ", ".join(f"{amount} {code}" for code, amount in by_currency.items()) or "0"


def _pairs(texts: list[str], read: Callable[[str], Any]) -> dict[str, Any]:
    pairs = (text.rpartition("=") for text in texts)
    return {name: read(value) for name, _mark, value in pairs}
