"""`manage.py demo`: believable, the same every time, safe to repeat, and never a back door."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.utils import DatabaseError

from plugins.demo.data import JOURNEYS, PEOPLE
from plugins.demo.management.commands.demo import BESIDE_OTHERS, GROUP
from plugins.exchange.models import Import
from splits.models import Expense, Rate, Settlement, Split
from splits.reports.audit import differences
from tests.factories import UserFactory
from trips.deletion import delete_account
from trips.models import JournalEntry, Member, Trip
from users.models import Role, User

pytestmark = pytest.mark.once

DEMO_PASSWORD = "four-green-suitcases"


def load(**options):
    """What the command says."""
    said = StringIO()
    call_command("demo", stdout=said, **options)
    return said.getvalue()


@pytest.fixture
def demo(db, settings, tmp_path):
    """`demo(scale=2)` runs the command as in development, and gives what it says."""
    settings.DEBUG = True
    # The folder of the checkout may have a `.env` of its own.
    settings.DATA_DIR = tmp_path
    return load


def ledgers():
    """All that was loaded, without identifiers and without what the clock says."""
    return {
        "people": list(User.objects.order_by("email").values_list("email", "name", "role")),
        "trips": list(Trip.objects.order_by("code").values_list("code", "title", "created_at")),
        "members": list(
            Member.objects.order_by("trip__code", "user__email").values_list(
                "trip__code", "user__email", "role", "paid_minor", "share_minor", "sent_minor"
            )
        ),
        "splits": list(
            Split.objects.order_by(
                "expense__trip__code", "expense__number", "participant__email"
            ).values_list("expense__description", "participant__email", "amount_minor")
        ),
        "settlements": list(
            Settlement.objects.order_by("amount_minor", "sender__email").values_list(
                "sender__email", "receiver__email", "amount_minor", "credit_minor"
            )
        ),
    }


def accounts():
    return User.objects.filter(is_guest=False)


def assert_right(trips):
    said = StringIO()
    call_command("audit_ledger", stdout=said)
    assert said.getvalue() == f"{trips} trips, no difference.\n"


@pytest.mark.slow
def test_it_is_the_same_every_time(demo):
    demo()
    first = ledgers()
    Trip.objects.all().purge()
    # It outlives the trips, and names the accounts.
    JournalEntry.objects.all().delete()
    User.objects.all().delete()
    demo()
    assert ledgers() == first


def test_a_run_that_broke_off_can_be_repeated(demo, monkeypatch):
    record = Expense.record
    recorded = []

    def break_off(*args, **kwargs):
        recorded.append(args)
        if len(recorded) == 30:
            raise DatabaseError("pulled the plug")
        return record(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Expense, "record", break_off)
        with pytest.raises(DatabaseError, match="pulled the plug"):
            demo()
    assert_right(trips=1)
    demo()
    assert_right(trips=len(JOURNEYS))


@pytest.mark.slow
def test_scale_adds_copies_with_numbered_names(demo):
    demo()
    demo(scale=2)
    assert_right(trips=2 * len(JOURNEYS))
    assert accounts().count() == 2 * len(PEOPLE)
    first, second = (User.objects.get(email=f"{key}@example.com") for key in ("olga", "olga2"))
    assert second.name == f"{first.name} 2"
    assert [f"{title} 2" for title in first.memberships.values_list("trip__title", flat=True)] == [
        *second.memberships.values_list("trip__title", flat=True)
    ]
    assert second.splits.count() == first.splits.count() > 0


@pytest.mark.parametrize("scale", [0, -1, 1001])
def test_a_scale_out_of_range_is_refused(demo, scale):
    with pytest.raises(CommandError, match="--scale must be from 1 to 1000"):
        demo(scale=scale)
    assert not User.objects.exists()


def test_production_refuses_accounts_with_a_known_password(demo, settings):
    settings.DEBUG = False
    with pytest.raises(CommandError, match="public password"):
        demo()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "env_file", ["DEBUG=false", "export DEBUG='no'", "SECRET_KEY=x", "ALLOWED_HOSTS=a.example"]
)
def test_an_env_file_of_production_refuses_them_whatever_the_environment_says(
    demo, tmp_path, env_file
):
    (tmp_path / ".env").write_text(env_file)
    with pytest.raises(SystemExit, match="development only"):
        demo()
    assert not User.objects.exists()
    assert not Rate.objects.exists()


@pytest.mark.parametrize("email", ["nora@example.com", "olga@example.org", "olgax@example.com"])
def test_a_database_with_accounts_of_other_people_gets_none_of_the_demo(demo, email):
    UserFactory(email=email)
    said = demo()
    assert said.startswith("Left out: ada@example.com, ed@example.com, ")
    assert said.count("\n") == 1
    assert DEMO_PASSWORD not in said
    assert accounts().count() == 1
    assert not Rate.objects.exists()


def account(key):
    return User.objects.get(email=f"{key}@example.com")


def left_out(said):
    return [
        line.removeprefix("Left out: ") for line in said.splitlines() if line.startswith("Left out")
    ]


def test_what_cannot_be_loaded_is_left_out_in_one_line_for_each_reason(demo):
    """What may happen to the demo between two starts of `make run`, one after the other."""
    first = demo(splitwise=True)
    assert left_out(first) == []
    assert_right(trips=len(JOURNEYS) + 1)
    ada, olga = account("ada"), account("olga")
    hut = Trip.objects.get(title="Hut weekend")
    hut.change(ada, title="Mine now")
    hut.expenses.order_by("pk")[0].remove(ada)
    hut.members.get(user=account("ed")).change_role("OWNER", ada)
    hut.members.get(user=olga).change_role("VIEWER", ada)
    assert demo(splitwise=True) == first
    # Trips that have to be loaded again refuse their members.
    Trip.objects.filter(title__in=["Lisbon in May", "Maple leaves in Japan"]).purge()
    account("lucia").change(by=None, may_be_added=False)
    account("jonas").deactivate(by=None)
    assert left_out(demo(splitwise=True)) == [
        "Lisbon in May. This user joins by invitation only. Please invite them.",
        "Maple leaves in Japan. There is no such user.",
    ]
    # Somebody changed an address, made an account and deleted others.
    olga.change(by=None, email="olga@mine.example")
    delete_account(ada, by=UserFactory(email="me@mine.example", role=Role.ADMIN))
    hut.remove(by=account("ed"))
    said = demo(splitwise=True)
    assert left_out(said) == [
        f"ada@example.com, olga@example.com, Lisbon in May, Maple leaves in Japan. {BESIDE_OTHERS}"
    ]
    assert demo(splitwise=True) == said
    assert said.startswith(f"The password of everybody is {DEMO_PASSWORD}\n  ed@example.com ")
    assert Trip.objects.filter(deleted_at=None).count() == len(JOURNEYS) - 2


def test_force_overrules_every_refusal(demo, settings, tmp_path):
    settings.DEBUG = False
    (tmp_path / ".env").write_text("DEBUG=false")
    UserFactory(email="nora@example.com")
    demo(force=True)
    assert accounts().count() == 1 + len(PEOPLE)
    assert_right(trips=len(JOURNEYS))


def test_its_group_of_splitwise_is_imported_once(olga, ed, trip):
    for _turn in range(2):
        call_command("import_trip", GROUP, user=olga.email, confirm=True, stdout=StringIO())
    made = Trip.objects.exclude(pk=trip.pk).get()
    assert (made.title, made.expenses.count(), made.settlements.count()) == ("Hut weekend", 4, 1)
    assert made.members.filter(user__in=[olga, ed]).count() == 2
    assert made.members.count() == 3
    plan = Import.objects.latest("pk").plan
    assert all(row.ours == row.claimed for row in plan.balances)
    assert not list(differences())
