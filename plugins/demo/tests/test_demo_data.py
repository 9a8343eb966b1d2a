"""The data of `manage.py demo`, which is loaded once for all of these tests."""

from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import Count
from django.test import override_settings

from plugins.attachments.models import Attachment
from plugins.demo.data import JOURNEYS, PEOPLE
from plugins.demo.tests.test_demo import DEMO_PASSWORD, accounts, assert_right, ledgers, load
from plugins.recurring.models import Recurrence
from splits.models import Debt, Expense, Payer, Settlement, Split, SplitType
from tests.factories import UserFactory
from tests.replay import assert_replayed
from tests.users.logins import try_to_log_in
from trips.models import Member, Trip
from users.models import Role, User

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("said", "db")]


@pytest.fixture(scope="module")
def said(django_db_setup, django_db_blocker, tmp_path_factory):
    """What the command said; the data is in a transaction around those of the tests."""
    # The folder of the checkout may have a `.env` of its own.
    folder = tmp_path_factory.mktemp("demo")
    with ExitStack() as stack, override_settings(DEBUG=True, DATA_DIR=folder):
        with django_db_blocker.unblock():
            stack.enter_context(transaction.atomic())
            said = load()
        yield said
        with django_db_blocker.unblock():
            transaction.set_rollback(True)
            stack.close()


def test_the_books_are_right_and_hold_something_of_everything():
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
    assert set(Attachment.objects.values_list("state", flat=True)) == {"ready"}
    assert Recurrence.objects.get().shown_state == "paused"
    for journey in JOURNEYS:
        trip = Trip.objects.get(title=journey.title)
        assert trip.members.unsettled().exists() is not journey.settled_up
        assert Debt.objects.open().filter(trip=trip).exists() is not journey.settled_up


def test_it_has_guests_invitations_comments_and_something_to_restore(said, api):
    load()
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


def test_everything_is_dated_with_its_trip():
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


def test_everybody_can_log_in_and_see_what_they_owe(said, api):
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


def test_a_second_run_changes_nothing(said, django_assert_max_num_queries):
    before = ledgers()
    with django_assert_max_num_queries(8):
        assert load() == said
    assert ledgers() == before
    kept, gone = Trip.objects.order_by("code")[:2]
    admin = User.objects.get(role=Role.ADMIN)
    kept.change(admin, title="Mine now")
    gone.remove(by=admin)
    load()
    assert Trip.objects.count() == len(JOURNEYS)
    assert Trip.objects.filter(title="Mine now").count() == 1
    gone.refresh_from_db()
    assert gone.deleted_at is not None


def test_people_who_registered_beside_the_demo_do_not_stand_in_its_way(said):
    UserFactory(email="nora@example.com")
    assert load() == said
    assert "Left out: ada2@example.com, ed2@example.com, " in load(scale=2)
    assert accounts().count() == len(PEOPLE) + 1


def test_its_trips_are_in_the_journal(api):
    reader = User.objects.filter(role=Role.ADMIN).first()
    for trip in Trip.objects.all():
        assert_replayed(api, reader, trip.pk)
