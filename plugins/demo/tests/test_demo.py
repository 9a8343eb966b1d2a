"""`manage.py demo`: believable, the same every time, safe to repeat, and never a back door."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import Count
from django.db.utils import DatabaseError
from pytest_django.fixtures import Settings

from plugins.attachments.models import Attachment
from plugins.demo.data import JOURNEYS, PEOPLE
from plugins.demo.management.commands.demo import BESIDE_OTHERS, GROUP
from plugins.exchange.models import Import
from plugins.recurring.models import Recurrence
from splits.models import Debt, Expense, Payer, Rate, Settlement, Split, SplitType
from splits.reports.audit import differences
from tests.cast import Api
from tests.factories import UserFactory
from tests.replay import assert_replayed
from tests.users.logins import try_to_log_in
from trips.deletion import delete_account
from trips.models import JournalEntry, Member, Trip
from users.models import Role, User

pytestmark = pytest.mark.once

DEMO_PASSWORD = "four-green-suitcases"


@pytest.fixture
def demo(db: None, settings: Settings, tmp_path: Path) -> Callable[..., str]:
    """`demo(scale=2)` runs the command as in development, and gives what it says."""
    settings.DEBUG = True
    # The folder of the checkout may have a `.env` of its own.
    settings.BASE_DIR = tmp_path

    def run(**options: Any) -> str:
        said = StringIO()
        call_command("demo", stdout=said, **options)
        return said.getvalue()

    return run


def ledgers() -> dict[str, list[Any]]:
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


def accounts() -> Any:
    return User.objects.filter(is_guest=False)


def assert_right(trips: int) -> None:
    said = StringIO()
    call_command("audit_ledger", stdout=said)
    assert said.getvalue() == f"{trips} trips, no difference.\n"


def test_the_books_are_right_and_hold_something_of_everything(demo: Callable[..., str]) -> None:
    demo()
    assert_right(trips=len(JOURNEYS))
    assert Expense.objects.count() >= 100
    assert set(Expense.objects.values_list("split_type", flat=True)) == set(SplitType.values)
    assert {"EUR", "JPY", "USD", "KWD"} <= set(Trip.objects.values_list("currency", flat=True))
    assert Expense.objects.exclude(exchange_rate=None).exists()
    assert Expense.objects.filter(description="Fado night", tags=["evening", "drinks"]).exists()
    several = Payer.objects.values("expense").annotate(people=Count("pk")).filter(people__gt=1)
    assert several.count() >= 5
    assert Debt.objects.filter(open_minor=0).exists()
    assert Settlement.objects.with_credit().exists()
    assert Settlement.objects.filter(split__isnull=False).exists()
    assert set(Member.objects.values_list("role", flat=True)) == {"OWNER", "EDITOR", "VIEWER"}
    assert Attachment.objects.get().state == "ready"
    assert Recurrence.objects.get().shown_state == "paused"
    for journey in JOURNEYS:
        trip = Trip.objects.get(title=journey.title)
        assert trip.members.unsettled().exists() is not journey.settled_up
        assert Debt.objects.open().filter(trip=trip).exists() is not journey.settled_up


def test_it_has_guests_invitations_comments_and_something_to_restore(
    demo: Callable[..., str], api: Api
) -> None:
    demo()
    [guest] = User.objects.filter(is_guest=True)
    trip = guest.memberships.get().trip
    assert guest.splits.exists()
    assert Payer.objects.filter(user=guest).exists()
    jonas = api(User.objects.get(email="jonas@example.com"))
    [row] = jonas.get(f"/api/trips/{trip.pk}/expenses?deleted=true").json()["items"]
    assert jonas.post(f"/api/trips/{trip.pk}/expenses/{row['id']}/restore").status_code == 200
    states = jonas.get(f"/api/trips/{trip.pk}/invitations").json()["items"]
    assert [invitation["state"] for invitation in states] == ["open", "used"]
    history = jonas.get(f"/api/trips/{trip.pk}/history?pageSize=100").json()["items"]
    told = [row["text"] for row in history]
    assert told[-1] == "Jonas Weber created the trip."
    for sentence in (
        "Jonas Weber added Olga Lindqvist as editor.",
        "Jonas Weber added the guest Ruth.",
        "Lucía Fernández took the place of a guest.",
        "Vera Kowalska deleted “Train down, once more”.",
        "Ed Morales commented on “Train down, once more”.",
    ):
        assert sentence in told
    # Nothing else is told without a name, also not of a place that was claimed.
    nameless = {sentence for sentence in told if "somebody" in sentence or "service" in sentence}
    assert nameless == {f"Jonas Weber invited somebody as {role}." for role in ("editor", "viewer")}
    instants = [row["at"] for row in history]
    assert instants == sorted(instants, reverse=True)
    assert_right(trips=len(JOURNEYS))


def test_its_trips_are_in_the_journal(demo: Callable[..., str], api: Api) -> None:
    demo()
    reader = User.objects.filter(role=Role.ADMIN).first()
    for trip in Trip.objects.all():
        assert_replayed(api, reader, trip.pk)


def test_everything_is_dated_with_its_trip(demo: Callable[..., str]) -> None:
    demo()
    users = set(accounts().values_list("created_at", "updated_at", "email_verified_at"))
    assert len({instant for instants in users for instant in instants}) == 1
    for trip in Trip.objects.all():
        assert User.objects.first().created_at < trip.created_at
        assert set(trip.members.values_list("joined_at", flat=True)) == {trip.created_at}
        start, end = trip.start_date, trip.end_date + timedelta(days=14)
        splits = Split.objects.filter(expense__trip=trip).with_details().select_related("expense")
        for split in splits.defer(None):
            assert split.created_at == split.expense.created_at
            assert split.state.paid_at is None or split.state.paid_at >= split.created_at
            assert split.state.paid_at is None or start <= split.state.paid_at.date() <= end
        for settlement in trip.settlements.all():
            assert settlement.settled_on == settlement.created_at.date()
            assert start <= settlement.settled_on <= end
            allocated = settlement.allocations.select_related("debt__split")
            for allocation in allocated.exclude(debt__covered_at=None):
                assert allocation.debt.covered_at >= settlement.created_at


def test_everybody_can_log_in_and_see_what_they_owe(demo: Callable[..., str], api: Api) -> None:
    said = demo()
    assert DEMO_PASSWORD in said
    for person in PEOPLE:
        email = f"{person.key}@example.com"
        [line] = [line for line in said.splitlines() if f" {email} " in line]
        assert ("ADMIN" in line) is person.is_admin
        assert try_to_log_in(email, DEMO_PASSWORD).status_code == 200
        user = User.objects.get(email=email)
        assert (user.role == Role.ADMIN) is person.is_admin
        assert api(user).get(f"/api/users/{user.pk}/total-debt").status_code == 200
        assert api(user).get("/api/trips").json()["total"] >= 1


def test_a_second_run_changes_nothing(
    demo: Callable[..., str], django_assert_max_num_queries: Any
) -> None:
    first = demo()
    before = ledgers()
    with django_assert_max_num_queries(8):
        assert demo() == first
    assert ledgers() == before
    kept, gone = Trip.objects.order_by("code")[:2]
    admin = User.objects.get(role=Role.ADMIN)
    kept.change(admin, title="Mine now")
    gone.remove(by=admin)
    demo()
    assert Trip.objects.count() == len(JOURNEYS)
    assert Trip.objects.filter(title="Mine now").count() == 1
    gone.refresh_from_db()
    assert gone.deleted_at is not None


@pytest.mark.slow
def test_it_is_the_same_every_time(demo: Callable[..., str]) -> None:
    demo()
    first = ledgers()
    Trip.objects.all().purge()
    # It outlives the trips, and names the accounts.
    JournalEntry.objects.all().delete()
    User.objects.all().delete()
    demo()
    assert ledgers() == first


def test_a_run_that_broke_off_can_be_repeated(
    demo: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = Expense.record
    recorded = []

    def break_off(*args: Any, **kwargs: Any) -> Expense:
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
def test_scale_adds_copies_with_numbered_names(demo: Callable[..., str]) -> None:
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
def test_a_scale_out_of_range_is_refused(demo: Callable[..., str], scale: int) -> None:
    with pytest.raises(CommandError, match="--scale must be from 1 to 1000"):
        demo(scale=scale)
    assert not User.objects.exists()


def test_production_refuses_accounts_with_a_known_password(
    demo: Callable[..., str], settings: Settings
) -> None:
    settings.DEBUG = False
    with pytest.raises(CommandError, match="public password"):
        demo()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "env_file", ["DEBUG=false", "export DEBUG='no'", "SECRET_KEY=x", "ALLOWED_HOSTS=a.example"]
)
def test_an_env_file_of_production_refuses_them_whatever_the_environment_says(
    demo: Callable[..., str], tmp_path: Path, env_file: str
) -> None:
    (tmp_path / ".env").write_text(env_file)
    with pytest.raises(SystemExit, match="development only"):
        demo()
    assert not User.objects.exists()
    assert not Rate.objects.exists()


@pytest.mark.parametrize("email", ["nora@example.com", "olga@example.org", "olgax@example.com"])
def test_a_database_with_accounts_of_other_people_gets_none_of_the_demo(
    demo: Callable[..., str], email: str
) -> None:
    UserFactory(email=email)
    said = demo()
    assert said.startswith("Left out: ada@example.com, ed@example.com, ")
    assert said.count("\n") == 1
    assert DEMO_PASSWORD not in said
    assert accounts().count() == 1
    assert not Rate.objects.exists()


def account(key: str) -> User:
    return User.objects.get(email=f"{key}@example.com")


def left_out(said: str) -> list[str]:
    return [
        line.removeprefix("Left out: ") for line in said.splitlines() if line.startswith("Left out")
    ]


def test_what_cannot_be_loaded_is_left_out_in_one_line_for_each_reason(
    demo: Callable[..., str],
) -> None:
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


def test_force_overrules_every_refusal(
    demo: Callable[..., str], settings: Settings, tmp_path: Path
) -> None:
    settings.DEBUG = False
    (tmp_path / ".env").write_text("DEBUG=false")
    UserFactory(email="nora@example.com")
    demo(force=True)
    assert accounts().count() == 1 + len(PEOPLE)
    assert_right(trips=len(JOURNEYS))


@pytest.mark.slow
@pytest.mark.parametrize("env_file", ["", "DEBUG=true\nSECRET_KEY=x", "DEBUG=\nLOG_LEVEL=INFO"])
def test_an_env_file_of_development_lets_them_in(
    demo: Callable[..., str], tmp_path: Path, env_file: str
) -> None:
    (tmp_path / ".env").write_text(env_file)
    demo()
    assert accounts().count() == len(PEOPLE)


def test_people_who_registered_beside_the_demo_do_not_stand_in_its_way(
    demo: Callable[..., str],
) -> None:
    said = demo()
    UserFactory(email="nora@example.com")
    assert demo() == said
    assert "Left out: ada2@example.com, ed2@example.com, " in demo(scale=2)
    assert accounts().count() == len(PEOPLE) + 1


def test_its_group_of_splitwise_is_imported_once(olga: User, ed: User, trip: Trip) -> None:
    for _turn in range(2):
        call_command("import_trip", GROUP, user=olga.email, confirm=True, stdout=StringIO())
    made = Trip.objects.exclude(pk=trip.pk).get()
    assert (made.title, made.expenses.count(), made.settlements.count()) == ("Hut weekend", 4, 1)
    assert made.members.filter(user__in=[olga, ed]).count() == 2
    assert made.members.count() == 3
    plan = Import.objects.latest("pk").plan
    assert all(row.ours == row.claimed for row in plan.balances)
    assert not list(differences())
