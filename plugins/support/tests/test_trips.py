"""Trips and members in the admin site: corrected by the API's rules, never behind the ledger."""

from decimal import Decimal

import pytest

from tests.admin_client import errors, text, told
from tests.factories import spend
from trips.models import JournalEntry, Member, Trip

pytestmark = pytest.mark.either


def test_the_fields_of_a_trip_can_be_corrected(admin_client, trip):
    admin_client.change(trip, title="Porto", start_date="2026-06-01", end_date="2026-06-03")
    trip.refresh_from_db()
    assert (trip.title, trip.start_date.month, trip.end_date.day) == ("Porto", 6, 3)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"end_date": "2026-05-13"}, "end_date"),
        ({"image_url": "javascript:alert(1)"}, "image_url"),
        ({"budget": "-1"}, "budget"),
        ({"budget": "1e13"}, "budget"),
        ({"budget_food": "-1"}, "budget_food"),
        ({"budget_food": "x"}, "budget_food"),
        ({"currency": "XXX"}, "currency"),
        ({"join_role": "OWNER"}, "join_role"),
        ({"title": None}, "title"),
    ],
)
def test_what_the_api_would_refuse_is_an_error_of_the_form(admin_client, trip, values, field):
    before = Trip.objects.filter(pk=trip.pk).values().get()
    assert list(errors(admin_client.change(trip, **values))) == [field]
    assert Trip.objects.filter(pk=trip.pk).values().get() == before


def test_the_budget_is_typed_in_major_units(admin_client, trip):
    admin_client.change(trip, budget="1200.50")
    trip.refresh_from_db()
    assert trip.budget_minor == 120050
    admin_client.change(trip, title="Porto")
    trip.refresh_from_db()
    assert trip.budget_minor == 120050
    admin_client.change(trip, currency="JPY")
    trip.refresh_from_db()
    assert trip.budget_minor == 1201
    admin_client.change(trip, budget=None)
    trip.refresh_from_db()
    assert trip.budget_minor is None


def test_budgets_by_category_are_typed_in_too(admin_client, trip):
    admin_client.change(trip, budget_food="200.50", budget_transport="33.339")
    trip.refresh_from_db()
    assert trip.category_budgets == {"FOOD": Decimal("200.50"), "TRANSPORT": Decimal("33.34")}
    assert 'value="200.50"' in admin_client.page(trip).content.decode()
    payer = trip.members.first().user
    spend(trip, 1000, paid_by=payer, among=[payer])
    admin_client.change(trip, budget_food=None, title="Porto")
    trip.refresh_from_db()
    assert trip.category_budgets == {"TRANSPORT": Decimal("33.34")}
    admin_client.change(trip, budget_transport=None)
    trip.refresh_from_db()
    assert trip.category_budgets is None


def test_a_budget_that_rounds_to_nothing_is_refused(admin_client, trip):
    assert told(admin_client.change(trip, budget="0.001")) == ["Must be greater than 0."]


def test_currency_and_budget_stand_once_money_is_recorded(admin_client, trip, olga):
    admin_client.change(trip, budget="1200.50")
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert {"currency", "budget"}.isdisjoint(
        admin_client.page(trip).context["adminform"].form.fields
    )
    assert "1,200.50 EUR" in text(admin_client.page(trip))
    admin_client.change(trip, currency="JPY", budget="5", title="Porto")
    trip.refresh_from_db()
    assert (trip.currency, trip.budget_minor, trip.title) == ("EUR", 120050, "Porto")


def test_trips_are_not_made_here(admin_client):
    assert admin_client.client.get(admin_client.url(Trip, "add")).status_code == 403


def test_trips_are_found_by_title_code_and_member(admin_client, trip, ed):
    for query in (trip.title, trip.code, ed.email):
        [found] = admin_client.list(Trip, f"q={query}").context["cl"].result_list
        assert (found, found.member_count) == (trip, 3)


def test_somebody_is_made_a_member(admin_client, trip, sam):
    admin_client.add(Member, trip=trip.pk, user=sam.pk, role="EDITOR")
    assert trip.members.present().get(user=sam).role == "EDITOR"


def test_who_left_may_come_again(admin_client, trip, ed):
    admin_client.act("end", trip.members.get(user=ed))
    assert not trip.members.present().filter(user=ed).exists()
    admin_client.add(Member, trip=trip.pk, user=ed.pk, role="VIEWER")
    assert trip.members.present().get(user=ed).role == "VIEWER"


def test_nobody_is_made_a_member_twice(admin_client, trip, ed):
    page = admin_client.add(Member, trip=trip.pk, user=ed.pk, role="OWNER")
    assert told(page) == ["This user is already a member of the trip."]
    assert trip.members.get(user=ed).role == "EDITOR"


def test_only_the_role_of_a_member_can_be_changed(admin_client, trip, ed, sam):
    member = trip.members.get(user=ed)
    assert list(admin_client.page(member).context["adminform"].form.fields) == ["role"]
    admin_client.change(member, role="OWNER", user=sam.pk, paid_minor=5)
    member.refresh_from_db()
    assert (member.user, member.role, member.paid_minor) == (ed, "OWNER", 0)


def test_the_last_owner_stays_one(admin_client, trip, olga):
    refusal = "A trip needs an owner, and this member is the only one."
    member = trip.members.get(user=olga)
    assert told(admin_client.change(member, role="VIEWER")) == [refusal]
    assert told(admin_client.act("end", member)) == [refusal]
    assert trip.members.present().get(user=olga).role == "OWNER"


def test_who_owes_something_stays_a_member_and_so_do_all_who_were_chosen(
    admin_client, trip, olga, ed, vera
):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    members = [trip.members.get(user=user) for user in (vera, ed)]
    refusal = "The balance in this trip is -5.00 EUR; settle it first."
    assert told(admin_client.act("end", *members)) == [refusal]
    assert trip.members.present().count() == 3


def test_a_membership_that_ended_stays_as_it_is(admin_client, trip, ed):
    member = trip.members.get(user=ed)
    member.leave(by=ed)
    assert admin_client.page(member).status_code == 200
    url = admin_client.url(Member, "change", member.pk)
    assert admin_client.client.post(url, {"role": "OWNER"}).status_code == 403


def test_the_journal_of_a_trip_is_shown_and_stays_when_the_trip_is_deleted(
    admin_client, api, trip, olga, ada
):
    api(olga).patch(f"/api/trips/{trip.pk}", {"budget": 900})
    page = text(admin_client.page(trip))
    assert "Olga Owner changed the budget to 900.00." in page
    assert f"/admin/trips/journalentry/?trip__id__exact={trip.pk}" in page
    trip.remove(by=ada)
    row = JournalEntry.objects.get(event="trip.changed")
    assert "900.00" in text(admin_client.page(row))
    listed = admin_client.list(JournalEntry, f"trip__id__exact={trip.pk}")
    assert listed.context["cl"].result_count == 2


def test_balances_are_drawn(admin_client, trip, olga, ed):
    spend(trip, 3000, paid_by=olga, among=[olga, ed])
    assert "15.00\xa0EUR" in admin_client.pictures(trip)["Balances"]


def test_the_admin_site_marks_a_deleted_trip_and_restores_it(admin_client, trip, olga):
    trip.remove(by=olga)
    assert admin_client.list(Trip, "state=kept").context["cl"].result_count == 0
    assert admin_client.list(Trip, "state=deleted").context["cl"].result_count == 1
    assert "Restore this trip" in text(admin_client.page(trip))
    for page in ("change", "delete"):
        url = admin_client.url(Trip, page, trip.pk)
        sure = {"post": "yes", "title": trip.title}
        assert admin_client.client.post(url, sure).status_code == 403
    assert told(admin_client.act("renew_codes", trip)) == ["Not found."]
    assert told(admin_client.act("restore", trip)) == ["Trips restored: 1."]
    assert Trip.objects.get(pk=trip.pk).deleted_at is None
    assert trip.members.present().count() == 3
    assert told(admin_client.act("restore", trip)) == ["Trips restored: 0."]
