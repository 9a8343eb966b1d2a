"""How an administrator helps people: memberships that nobody asked for, data, deleted entries."""

import io
import json
from datetime import timedelta
from zipfile import ZipFile

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from splits.models import DeletedEntry, Expense, Settlement
from tests.admin_client import tables, text, told
from tests.factories import (
    UserFactory,
    add_guest,
    join,
    overwrite,
    owned_trip,
    purge,
    settle,
    spend,
)
from tripcompanion.adminsite.base import page_url
from trips.models import JournalEntry, Member, Trip
from users.models import User

pytestmark = pytest.mark.either


@pytest.fixture
def added(trip, olga, sam):
    """Sam, whom Olga has added as an OWNER, and who has not answered."""
    return Member.add(trip, olga, role="OWNER", email=sam.email)


def people(page, label):
    """Who was added by whom, and whether they answered, in a table of members."""
    return [[row[0], *row[3:5]] for row in tables(text(page))[label]]


# -- Who added whom --------------------------------------------------------------------------------


def test_members_say_who_added_them_and_whether_they_answered(
    admin_client, api, trip, olga, sam, added
):
    nora = UserFactory(name="Nora New")
    path = f"/api/trips/{trip.pk}"
    assert api(olga).post(f"{path}/guests", {"name": "Bert"}).status_code == 201
    assert api(nora).post("/api/trips/join", {"tripCode": trip.code}).status_code == 201
    by_olga = [["Sam Stranger", "Olga Owner", "False"], ["Bert", "Olga Owner", "True"]]
    assert people(admin_client.page(trip), "Members:")[-3:] == [*by_olga, ["Nora New", "-", "True"]]
    assert people(admin_client.page(sam), "Trips:") == [[trip.title, "Olga Owner", "False"]]
    listed = admin_client.list(Member, "state=unanswered").context["cl"].result_list
    assert [(row.pk, row.adder_name) for row in listed] == [(added.pk, "Olga Owner")]
    assert "Olga Owner" in text(admin_client.page(added))
    assert api(sam).get(path).status_code == 200
    assert people(admin_client.page(sam), "Trips:") == [[trip.title, "Olga Owner", "True"]]
    assert not admin_client.list(Member, "state=unanswered").context["cl"].result_list


def test_who_came_back_by_themselves_was_added_by_nobody(admin_client, api, trip, sam, added):
    assert api(sam).post(f"/api/trips/{trip.pk}/members/leave").status_code == 204
    assert api(sam).post("/api/trips/join", {"tripCode": trip.code}).status_code == 201
    assert people(admin_client.page(sam), "Trips:") == [[trip.title, "-", "True"]]


# -- A membership that nobody asked for ------------------------------------------------------------


def test_an_unanswered_membership_ends_whatever_the_balance_as_the_person_could(
    admin_client, ada, trip, olga, sam, added
):
    """T214: Only an ADMIN ends a membership for somebody who has not answered."""
    spend(trip, 1000, paid_by=olga, among=[olga, sam])
    assert told(admin_client.press("end", added)) == ["Memberships ended: 1."]
    assert not sam.memberships.present().exists()
    added.refresh_from_db()
    assert (added.user.is_guest, added.user.name, added.balance_minor) == (True, sam.name, -500)
    rows = JournalEntry.objects.filter(trip=trip).order_by("-number")[:2]
    assert [(row.event, row.by, row.via) for row in rows] == [
        ("guest.added", ada, "admin"),
        ("member.removed", ada, "admin"),
    ]


def test_an_only_owner_who_has_not_answered_hands_the_trip_over(
    admin_client, trip, olga, ed, added
):
    trip.members.get(user=olga).change_role("EDITOR", by=olga)
    assert told(admin_client.press("end", added)) == ["Memberships ended: 1."]
    assert list(trip.members.owners().values_list("user", flat=True)) == [olga.pk]


def test_who_has_answered_stays_until_all_is_settled(admin_client, api, trip, olga, sam, added):
    spend(trip, 1000, paid_by=olga, among=[olga, sam])
    assert api(sam).get(f"/api/trips/{trip.pk}").status_code == 200
    refusal = "The balance in this trip is -5.00 EUR; settle it first."
    assert told(admin_client.press("end", added)) == [refusal]


# -- Personal data ---------------------------------------------------------------------------------


def test_the_data_of_a_person_is_the_file_that_they_can_download(admin_client, api, trip, olga, ed):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    url = page_url(User, "data", ed.pk)
    assert url in admin_client.page(ed).content.decode()
    answer = admin_client.client.get(url)
    assert f'filename="trip-companion-{ed.pk}.zip"' in answer.headers["Content-Disposition"]
    own = api(ed).get("/api/users/me/export?format=zip")
    content = b"".join(answer.streaming_content)
    files, expected = (ZipFile(io.BytesIO(each)) for each in (content, own.content))
    assert files.namelist() == expected.namelist() == ["account.json", f"trips/{trip.pk}.json"]
    account, own_account = (json.loads(each.read("account.json")) for each in (files, expected))
    # The request for the second file was a log-in of its own.
    assert account | {"logIns": []} == own_account | {"logIns": []}
    entry = LogEntry.objects.get()
    assert (entry.object_repr, entry.change_message) == (f"#{ed.pk}", "Personal data exported.")


def test_only_accounts_have_data_to_download(admin_client, trip, olga, ada):
    guest = add_guest(trip)
    assert "/data/" not in admin_client.page(guest).content.decode()
    for user_id in (guest.pk, 999):
        assert admin_client.client.get(page_url(User, "data", user_id)).status_code == 404
    admin_client.client.force_login(olga)
    assert admin_client.client.get(page_url(User, "data", ada.pk)).status_code == 302


def test_open_balances_are_named_before_an_account_is_deleted(admin_client, trip, olga, ed, vera):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    kyoto = owned_trip(ed, title="Kyoto", currency="JPY")
    join(kyoto, vera)
    spend(kyoto, 1000, paid_by=ed, among=[vera])
    page = admin_client.client.get(page_url(User, "delete", ed.pk))
    assert told(page) == ["There are open balances: 2. They are listed below."]
    for balance in (f"{trip.title}</a>: -5.00 EUR", "Kyoto</a>: 1,000 JPY"):
        assert balance in text(page)
    chosen = {"action": "delete_selected", "_selected_action": [ed.pk, vera.pk]}
    page = admin_client.client.post(page_url(User, "changelist"), chosen)
    assert told(page) == ["There are open balances: 3. They are listed below."]
    assert "Vera Viewer" in text(page)
    settle(trip, ed, olga, 500)
    settle(kyoto, vera, ed, 1000)
    assert told(admin_client.client.get(page_url(User, "delete", ed.pk))) == []
    assert "was deleted successfully" in told(admin_client.delete(vera))[0]


# -- The journal of a trip -------------------------------------------------------------------------


def test_the_journal_is_filtered_by_trip(admin_client, trip, olga, ada):
    spend(trip, 1000, paid_by=olga, among=[olga])
    kyoto = owned_trip(olga, title="Kyoto")
    spend(kyoto, 1000, paid_by=olga, among=[olga])

    def trips_in(query):
        rows = admin_client.list(JournalEntry, query).context["cl"].result_list
        return {row.trip_id for row in rows}

    link = f"/admin/trips/journalentry/?trip__id__exact={trip.pk}"
    assert f'<a href="{link}">#{trip.pk}</a>' in text(admin_client.list(JournalEntry))
    found = {query: trips_in(query) for query in ("of_trip=kyo", f"of_trip={trip.code.lower()}")}
    assert list(found.values()) == [{kyoto.pk}, {trip.pk}]
    assert trips_in(f"of_trip=%23{trip.pk}") == trips_in(f"trip__id__exact={trip.pk}") == {trip.pk}
    assert trips_in("of_trip=%23999999") == trips_in("of_trip=%23" + "9" * 30) == set()
    trip.remove(by=ada)
    purge(trip)
    assert trips_in(f"of_trip=%23{trip.pk}") == {trip.pk}


# -- Deleted entries -------------------------------------------------------------------------------


def test_deleted_entries_are_restored_by_the_administrator(admin_client, ada, trip, olga, ed):
    expense = spend(trip, 1000, paid_by=olga, among=[olga, ed])
    settlement = settle(trip, ed, olga, 500)
    before = list(trip.members.order_by("pk").values())
    expense.remove(by=olga)
    settlement.remove(by=olga)
    assert f"/admin/splits/deletedentry/?trip__id__exact={trip.pk}" in text(admin_client.page(trip))
    first = DeletedEntry.objects.get(kind="expense")
    assert told(admin_client.press("restore", first)) == ["Entries restored: 1."]
    assert told(admin_client.act("restore", DeletedEntry.objects.get())) == ["Entries restored: 1."]
    assert Expense.objects.get() == expense
    assert Settlement.objects.get() == settlement
    assert list(trip.members.order_by("pk").values()) == before
    rows = JournalEntry.objects.filter(event__endswith=".restored").order_by("number")
    assert [(row.event, row.by, row.via) for row in rows] == [
        ("expense.restored", ada, "admin"),
        ("settlement.restored", ada, "admin"),
    ]
    logged = LogEntry.objects.order_by("pk").values_list("object_repr", "change_message")
    assert list(logged) == [
        (f"expense #{expense.pk}", "Restored."),
        (f"settlement #{settlement.pk}", "Restored."),
    ]


def test_a_refused_restoration_is_a_message_and_changes_nothing(admin_client, trip, olga, ed, vera):
    for among in ([olga, vera], [olga, ed]):
        spend(trip, 1000, paid_by=olga, among=among).remove(by=olga)
    trip.members.get(user=ed).remove(by=olga)
    entries = list(DeletedEntry.objects.all())
    [refusal] = told(admin_client.act("restore", *entries))
    assert f"Not members of the trip any more: {ed.pk}." in refusal
    assert set(DeletedEntry.objects.all()) == set(entries)
    assert not Expense.objects.exists()
    assert not LogEntry.objects.exists()


def test_a_deleted_trip_is_restored_by_the_administrator_unless_nobody_could_lead_it(
    admin_client, ada, trip, olga
):
    trip.remove(by=olga)
    trip.refresh_from_db()
    overwrite(olga, is_active=False)
    [refusal] = told(admin_client.press("restore", trip))
    assert "None of its owners can log in any more." in refusal
    overwrite(olga, is_active=True)
    assert told(admin_client.press("restore", trip)) == ["Trips restored: 1."]
    row = JournalEntry.objects.latest("number")
    assert (row.event, row.by, row.via) == ("trip.restored", ada, "admin")
    trip.remove(by=olga)
    long_ago = timezone.now() - timedelta(days=400)
    Trip.objects.filter(pk=trip.pk).update(deleted_at=long_ago)
    trip.refresh_from_db()
    assert told(admin_client.press("restore", trip)) == ["Not found."]
