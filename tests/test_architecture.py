"""ARCHITECTURE.md and the READMEs of packages are true: their trees exist, their examples hold."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import commands as core_commands

from splits.models import Debt, Settlement
from tests.document import usual_plugins
from tests.lines import lines
from tests.sources import CORE, PACKAGES, ROOT, shipped
from tests.splits.ledger import exact
from tests.walked import all_of
from tripcompanion.plugin import plugins

pytestmark = pytest.mark.once

DOCUMENT = (ROOT / "ARCHITECTURE.md").read_text()
TREE = re.search(r"^```text\n(.*?)^```$", DOCUMENT, re.M | re.S)[1]
FOLDERS = (*PACKAGES, "benchmarks", "chaos")
LEDGER = (ROOT / "splits" / "README.md").read_text()
#: The lines of the core at most. The number may only fall.
MOST_OF_THE_CORE = 23_762


def steps():
    """The rows of the worked example, by the head of the column."""
    head, _rule, *rows = (
        [cell.strip() for cell in line.split("|")]
        for line in re.findall(r"^\|(.*)\|$", LEDGER, re.M)
    )
    return [dict(zip(head, row, strict=True)) for row in rows]


def pairs(text):
    """`Vera to Ed 6.67, …` as a set."""
    found = re.findall(r"(\w+) to (\w+) ([0-9.]+)", text)
    return {(debtor, creditor, Decimal(amount)) for debtor, creditor, amount in found}


def first_name(user):
    return (user["name"] if isinstance(user, dict) else user.name).split()[0]


class Example:
    """The trip of the example: its people by first name, and what they do and see over HTTP."""

    def __init__(self, trip, people, client):
        self.trip, self.client = trip, client
        self.people = {first_name(user): user for user in people}
        self.path = f"/api/trips/{trip.pk}"

    def play(self, step):
        """Do what the first cell of a row says."""
        if handed := re.fullmatch(r"(?:Plan: )?(\w+) hands (\w+) ([0-9.]+)", step):
            sender, receiver, amount = handed.groups()
            self._post(
                "settlements",
                fromUserId=self.people[sender].pk,
                toUserId=self.people[receiver].pk,
                amount=amount,
            )
            return
        name, amount, payers = re.fullmatch(r"(\w+), ([0-9.]+) for all: (.+)", step).groups()
        self._post(
            "expenses",
            description=name,
            amount=amount,
            expenseDate="2026-05-14",
            splitType="EQUAL",
            participantUserIds=[user.pk for user in self.people.values()],
            payers=[
                {"userId": self.people[payer].pk, "amount": paid_by_user}
                for payer, paid_by_user in re.findall(r"(\w+) puts in ([0-9.]+)", payers)
            ],
        )

    def _post(self, name, **body):
        answer = self.client.post(f"{self.path}/{name}", body)
        assert answer.status_code == 201, answer.content

    def balances(self):
        rows = exact(self.client.get(f"{self.path}/balances"))
        return {first_name(row["user"]): row["balance"] for row in rows}

    def plan(self):
        rows = exact(self.client.get(f"{self.path}/settle-up"))
        return {(first_name(row["from"]), first_name(row["to"]), row["amount"]) for row in rows}

    def open_amounts(self, api):
        """What each person still owes, by their pending debts and by their total debt."""
        amounts = {}
        for name, user in self.people.items():
            pending = exact(api(user).get(f"/api/users/{user.pk}/pending-debts"))
            amounts[name] = sum(row["amount"] - row["paidAmount"] for row in pending)
            total = api(user).get(f"/api/users/{user.pk}/total-debt")
            assert Decimal(total.content.decode()) == amounts[name]
        return amounts

    def open_debts(self):
        rows = Debt.objects.open().filter(trip=self.trip).select_related("debtor", "creditor")
        return {
            (first_name(row.debtor), first_name(row.creditor), Decimal(row.open_minor) / 100)
            for row in rows
        }

    def credit(self):
        rows = Settlement.objects.with_credit().filter(trip=self.trip).with_details()
        return {
            (first_name(row.sender), first_name(row.receiver), Decimal(row.credit_minor) / 100)
            for row in rows
        }


@pytest.fixture
def example(trip, olga, ed, vera, api):
    return Example(trip, [olga, ed, vera], api(olga))


def test_the_worked_example_is_what_the_api_does(example, api):
    assert len(steps()) == 5
    for step in steps():
        example.play(step["Step"])
        debts = pairs(step["Open debts"])
        assert example.balances() == {name: Decimal(step[name]) for name in example.people}, step
        assert example.open_debts() == debts, step
        assert example.credit() == pairs(step["Credit"]), step
        assert example.open_amounts(api) == {
            name: sum((amount for debtor, _to, amount in debts if debtor == name), Decimal(0))
            for name in example.people
        }, step


def test_the_plan_of_the_example_is_the_plan(example):
    planned = [step["Step"] for step in steps() if step["Step"].startswith("Plan: ")]
    for step in steps():
        if step["Step"] == planned[0]:
            break
        example.play(step["Step"])
    assert example.plan() == pairs(
        ", ".join(re.sub(r"Plan: (\w+) hands (\w+)", r"\1 to \2", step) for step in planned)
    )


def test_the_parts_that_the_example_names_are_the_splits(example):
    text = " ".join(LEDGER.split())
    parts = re.search(r"divides into ([0-9.]+) for Olga, .* ([0-9.]+) each for Ed and Vera", text)
    example.play(steps()[0]["Step"])
    [expense] = exact(example.client.get(f"{example.path}/expenses"))["items"]
    amounts = {first_name(split["participant"]): split["amount"] for split in expense["splits"]}
    olga, each = (Decimal(part.rstrip(".")) for part in parts.groups())
    assert amounts == {"Olga": olga, "Ed": each, "Vera": each}


def test_every_folder_has_its_place_in_the_tree():
    folders = {
        path.parent.name
        for package in (*FOLDERS, "tests")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name != "commands"
    }
    assert folders - set(re.findall(r"(?<![\w.-])([\w.-]+)/", TREE)) == set()


@usual_plugins
def test_everything_in_the_tree_exists():
    folders = (*FOLDERS, "docs")
    files = {path.name for folder in folders for path in (ROOT / folder).rglob("*")}
    files |= {path.name for path in ROOT.iterdir()} | {
        path.name for path in (ROOT / "tests").rglob("*")
    }
    named = re.findall(r"[\w.-]+\.(?:py|toml|txt|yml|yaml)\b|(?<![\w.-])[\w.-]+(?=/)", TREE)
    assert [name for name in named if name not in files] == []


def test_the_layers_are_those_that_import_linter_checks():
    configuration = (ROOT / "pyproject.toml").read_text()
    contracts = re.findall(r"^name = \"(serving > .+)\"$", configuration, re.M)
    assert len(contracts) == 1
    assert f"`{contracts[0]}`" in " ".join(DOCUMENT.split())


def test_no_command_of_djangos_core_is_replaced():
    ours = {path.stem for app in FOLDERS for path in (ROOT / app).rglob("commands/[a-z]*.py")}
    core = {path.stem for path in Path(core_commands.__file__).parent.glob("[a-z]*.py")}
    assert "migrate_safely" in ours
    assert ours & core == set()


def test_commands_lock_a_trip_together_with_the_question_who_may():
    """`lock_trip` alone asks nothing; it is for joining, `If-Match`, and what the service does."""
    names = [app.name for app in plugins() if app.name.partition(".")[0] not in CORE]
    of_plugins = [path for name in names for path in shipped(name.replace(".", "/"))]
    shared = (ROOT / "plugins").glob("*.py") if names else ()
    taking = re.compile(r"\block_trip\(|\.select_for_update\(")
    found = {
        str(path.relative_to(ROOT))
        for path in (*shipped("trips", "splits", "tripcompanion"), *of_plugins, *shared)
        if taking.search(path.read_text())
    }
    assert found == {
        "trips/models/trip.py",
        "trips/models/member.py",
        "trips/deletion.py",
        "trips/viewsets.py",
        "splits/models/closing.py",
        *all_of("LOCKS"),
    }


@usual_plugins
def test_the_core_does_not_grow():
    assert lines()["core"] <= MOST_OF_THE_CORE
