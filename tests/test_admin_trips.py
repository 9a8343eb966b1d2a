"""Trips and members in the admin site: corrected by the API's rules, never behind the books."""

from typing import Any

import pytest

from tests.conftest import Api
from tests.factories import UserFactory, spend
from tests.office import Office, errors, text, told
from trips.models import Member, Trip
from users.models import User


@pytest.fixture
def office(ada: User) -> Office:
    return Office(ada)


def test_the_fields_of_a_trip_can_be_corrected(office: Office, trip: Trip) -> None:
    office.change(trip, title="Porto", start_date="2026-06-01", end_date="2026-06-03")
    trip.refresh_from_db()
    assert (trip.title, trip.start_date.month, trip.end_date.day) == ("Porto", 6, 3)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"end_date": "2026-05-13"}, "end_date"),
        ({"image_url": "javascript:alert(1)"}, "image_url"),
        ({"budget": "-1"}, "budget"),
        ({"budget": "1e13"}, "budget"),
        ({"currency": "XXX"}, "currency"),
        ({"join_role": "OWNER"}, "join_role"),
        ({"title": None}, "title"),
    ],
)
def test_what_the_api_would_refuse_is_an_error_of_the_form(
    office: Office, trip: Trip, values: dict[str, Any], field: str
) -> None:
    before = Trip.objects.filter(pk=trip.pk).values().get()
    assert list(errors(office.change(trip, **values))) == [field]
    assert Trip.objects.filter(pk=trip.pk).values().get() == before


def test_the_budget_is_typed_in_major_units(office: Office, trip: Trip) -> None:
    office.change(trip, budget="1200.50")
    trip.refresh_from_db()
    assert trip.budget_minor == 120050
    office.change(trip, title="Porto")
    trip.refresh_from_db()
    assert trip.budget_minor == 120050
    office.change(trip, currency="JPY")
    trip.refresh_from_db()
    assert trip.budget_minor == 1201
    office.change(trip, budget=None)
    trip.refresh_from_db()
    assert trip.budget_minor is None


def test_a_budget_that_rounds_to_nothing_is_refused(office: Office, trip: Trip) -> None:
    assert told(office.change(trip, budget="0.001")) == ["Must be greater than 0."]


def test_currency_and_budget_stand_once_money_is_recorded(
    office: Office, trip: Trip, olga: User
) -> None:
    office.change(trip, budget="1200.50")
    spend(trip, 1000, paid_by=olga, among=[olga])
    assert {"currency", "budget"}.isdisjoint(office.page(trip).context["adminform"].form.fields)
    assert "1200.50 EUR" in text(office.page(trip))
    office.change(trip, currency="JPY", budget="5", title="Porto")
    trip.refresh_from_db()
    assert (trip.currency, trip.budget_minor, trip.title) == ("EUR", 120050, "Porto")


def test_trips_are_not_made_here(office: Office) -> None:
    assert office.client.get(office.url(Trip, "add")).status_code == 403


def test_a_new_code_kills_the_old_one(office: Office, trip: Trip, api: Api, sam: User) -> None:
    old = trip.code
    office.act("renew_codes", trip)
    trip.refresh_from_db()
    assert api(sam).get(f"/api/trips/code/{old}").status_code == 404
    assert api(sam).get(f"/api/trips/code/{trip.code}").status_code == 200


def test_trips_are_found_by_title_code_and_member(office: Office, trip: Trip, ed: User) -> None:
    for query in (trip.title, trip.code, ed.email):
        [found] = office.list(Trip, f"q={query}").context["cl"].result_list
        assert (found, found.member_count) == (trip, 3)


def test_somebody_is_made_a_member(office: Office, trip: Trip, sam: User) -> None:
    office.add(Member, trip=trip.pk, user=sam.pk, role="EDITOR")
    assert trip.members.present().get(user=sam).role == "EDITOR"


def test_who_left_may_come_again(office: Office, trip: Trip, ed: User) -> None:
    member = trip.members.get(user=ed)
    office.act("end", member)
    assert not trip.members.present().filter(user=ed).exists()
    office.add(Member, trip=trip.pk, user=ed.pk, role="VIEWER")
    assert trip.members.present().get(user=ed).role == "VIEWER"


def test_nobody_is_made_a_member_twice(office: Office, trip: Trip, ed: User) -> None:
    page = office.add(Member, trip=trip.pk, user=ed.pk, role="OWNER")
    assert told(page) == ["This user is a member of the trip already."]
    assert trip.members.get(user=ed).role == "EDITOR"


def test_a_barred_account_is_not_made_a_member(office: Office, trip: Trip) -> None:
    barred = UserFactory(is_active=False)
    page = office.add(Member, trip=trip.pk, user=barred.pk, role="VIEWER")
    assert told(page) == ["There is no such user."]


def test_only_the_role_of_a_member_can_be_changed(
    office: Office, trip: Trip, ed: User, sam: User
) -> None:
    member = trip.members.get(user=ed)
    assert list(office.page(member).context["adminform"].form.fields) == ["role"]
    office.change(member, role="OWNER", user=sam.pk, paid_minor=5)
    member.refresh_from_db()
    assert (member.user, member.role, member.paid_minor) == (ed, "OWNER", 0)


def test_the_last_owner_stays_one(office: Office, trip: Trip, olga: User) -> None:
    refusal = "A trip needs an owner, and this is the last one."
    member = trip.members.get(user=olga)
    assert told(office.change(member, role="VIEWER")) == [refusal]
    assert told(office.act("end", member)) == [refusal]
    assert trip.members.present().get(user=olga).role == "OWNER"


def test_who_owes_something_stays_a_member_and_so_do_all_who_were_chosen(
    office: Office, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    members = [trip.members.get(user=user) for user in (vera, ed)]
    refusal = "The balance in this trip is -5.00 EUR; settle it first."
    assert told(office.act("end", *members)) == [refusal]
    assert trip.members.present().count() == 3


def test_a_membership_that_ended_stays_as_it_is(office: Office, trip: Trip, ed: User) -> None:
    member = trip.members.get(user=ed)
    member.leave(by=ed)
    assert office.page(member).status_code == 200
    url = office.url(Member, "change", member.pk)
    assert office.client.post(url, {"role": "OWNER"}).status_code == 403
