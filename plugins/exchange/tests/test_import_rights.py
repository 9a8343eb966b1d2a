"""What an import may do: it has the rights of its caller, adds nobody unknown, and has a limit."""

import json

import pytest
from django.utils import timezone

from plugins.exchange.tests import samples
from plugins.exchange.tests.conftest import send_form
from plugins.exchange.tests.samples import SPLITWISE_API
from tests.factories import UserFactory, add_guest
from tests.scoped import script_of
from tests.test_costs import remaining
from tests.trips.bodies import lisbon
from tests.users.logins import bearer
from tripcompanion.api import throttling
from trips.models import Member, Trip
from trips.models.events import trip_objects
from users.scopes import Scope

pytestmark = pytest.mark.either

HEADER = "Date,Description,Category,Cost,Currency"
OWN = f"{HEADER},Me,Ben\n2026-05-01,Bus,Bus,4,EUR,2,-2\n"
#: Me paid Ben.
PAYMENT = f"{HEADER},Me,Ben\n2026-05-03,Back,Payment,30.00,EUR,30.00,-30.00\n"


def test_an_import_into_a_trip_needs_the_role(plan, trip, ed, vera, sam):
    for user, status in ((ed, 403), (vera, 403), (sam, 404)):
        assert plan(samples.SPLITWISE_CSV, user, tripId=trip.pk).status_code == status
    assert plan(OWN, ed, tripId=trip.pk, mapping={"Me": ed.pk}).status_code == 201


def test_who_has_lost_the_role_since_confirms_nothing(plan, api, trip, ed):
    path = plan(OWN, ed, tripId=trip.pk, mapping={"Me": ed.pk})["Location"]
    present = trip.members.filter(user=ed)
    for change, status in (({"role": "VIEWER"}, 403), ({"left_at": timezone.now()}, 404)):
        present.update(**change)
        assert api(ed).post(f"{path}/confirm").status_code == status
    assert not trip.expenses.exists()


def test_people_are_mapped_only_as_chosen(imported, plan, trip, olga, ed, sam):
    guest = add_guest(trip)
    for strange in (guest.pk, 10**9):
        answer = plan(samples.SPLITWISE_CSV, mapping={"Ben": strange}, asNewTrip=True)
        assert answer.status_code == 400
        assert "mapping" in answer.json()["errors"]
    assert plan(samples.SPLITWISE_CSV, mapping={"Nobody": ed.pk}).status_code == 400
    assert plan(samples.SPLITWISE_CSV, mapping={"Ana P": ed.pk, "Ben": ed.pk}).status_code == 400
    done = imported(samples.SPLITWISE_CSV, mapping={"Ana P": olga.pk, "Ben": ed.pk})
    found = Trip.objects.get(pk=done["tripId"]).members.values_list("user__name", "role")
    assert set(found) == {("Olga Owner", "OWNER"), ("Ed Editor", "VIEWER"), ("Cleo, Jr", "VIEWER")}


def test_somebody_who_may_not_be_added_is_not(plan, trip, ed):
    type(ed).objects.filter(pk=ed.pk).update(may_be_added=False)
    answer = plan(samples.SPLITWISE_CSV, mapping={"Ben": ed.pk})
    assert (answer.status_code, answer.json()["code"]) == (409, "invite_instead")
    by_email = samples.SPLITWISE_API.replace("ana@example.com", ed.email)
    assert plan(by_email).json()["people"][0]["userId"] is None


def test_an_address_leads_only_to_people_whom_the_caller_knows(plan, trip, olga, ed, sam):
    """T200: An import does nothing that its caller could not do by hand."""
    for user, found in ((ed, ed.pk), (olga, olga.pk), (sam, None)):
        content = samples.SPLITWISE_API.replace("ana@example.com", user.email)
        assert plan(content).json()["people"][0]["userId"] == found
    # Whoever never registered there has an address that nobody has confirmed.
    content = samples.SPLITWISE_API.replace("ben@example.com", ed.email)
    assert plan(content).json()["people"][1]["userId"] is None


def test_payments_need_the_rights_that_they_need_by_hand(plan, api, trip, ed, vera, olga):
    # Who may record no expenses may record their own payments, to members.
    people = {"Me": vera.pk, "Ben": olga.pk}
    planned = plan(PAYMENT, vera, tripId=trip.pk, mapping=people)
    assert planned.status_code == 201, planned.json()
    assert api(vera).post(f"{planned['Location']}/confirm").status_code == 200
    assert trip.settlements.get().sender == vera
    to_guest = PAYMENT.replace("Ben", "Zoe")
    assert plan(to_guest, vera, tripId=trip.pk, mapping={"Me": vera.pk}).status_code == 403
    another = PAYMENT.replace("Back", "Again")
    assert plan(another, ed, tripId=trip.pk, mapping=people).status_code == 403
    assert plan(OWN, vera, tripId=trip.pk, mapping=people).status_code == 403


def test_who_may_only_pay_for_themselves_by_now_confirms_no_other_payments(
    plan, api, trip, ed, vera, olga
):
    path = plan(PAYMENT, olga, tripId=trip.pk, mapping={"Me": vera.pk, "Ben": ed.pk})["Location"]
    trip.members.filter(user=ed).update(role="OWNER")
    trip.members.filter(user=olga).update(role="EDITOR")
    answer = api(olga).post(f"{path}/confirm")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert not trip.settlements.exists()


def test_who_may_delete_nothing_any_more_undoes_nothing(imported, api, trip, ed):
    done = imported(OWN, ed, tripId=trip.pk, mapping={"Me": ed.pk})
    trip.members.filter(user=ed).update(role="VIEWER")
    assert api(ed).post(f"/api/imports/{done['id']}/undo").status_code == 403
    assert trip.expenses.count() == 1


def test_a_token_of_one_trip_imports_into_no_other(plan, api, trip, olga):
    elsewhere = api(olga).post("/api/trips", lisbon()).json()["id"]
    client = bearer(script_of(olga, *Scope, trip=trip).token)
    own = OWN.encode()
    answer = send_form(client, own, asNewTrip=True)
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    assert send_form(client, own).status_code == 403
    assert send_form(client, own, tripId=elsewhere).status_code == 404
    own = send_form(client, own, tripId=trip.pk)
    assert own.status_code == 201
    assert client.get(own["Location"]).status_code == 200
    assert client.get(plan(OWN, asNewTrip=True)["Location"]).status_code == 404


def test_adding_somebody_by_id_does_not_reveal_whose_address_a_file_has(plan, api, trip, olga):
    stranger = UserFactory()
    body = {"userId": stranger.pk}
    assert api(olga).post(f"/api/trips/{trip.pk}/members", body).status_code == 201
    assert Member.objects.get(user=stranger).introduced_by is not None
    content = samples.SPLITWISE_API.replace("ana@example.com", stranger.email)
    assert plan(content, asNewTrip=True).json()["people"][0]["userId"] is None


def test_a_token_imports_only_with_the_scopes_for_all_that_an_import_does(olga):
    own, needed = OWN.encode(), {*Scope} - {Scope.EXPENSES_READ}
    for missing in needed:
        answer = send_form(bearer(script_of(olga, *({*needed} - {missing})).token), own)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    assert send_form(bearer(script_of(olga, *needed).token), own).status_code == 201


def test_a_token_exports_only_with_the_scopes_for_all_that_a_trip_has(api, trip, olga):
    """T243: A file of a trip is no way around the scopes of a token."""
    areas = {shown.area for shown in trip_objects().values()}
    path, reads = f"/api/trips/{trip.pk}/export", {f"{area}:read" for area in areas}
    assert bearer(script_of(olga, *reads).token).get(path).status_code == 200
    for missing in reads - {Scope.TRIPS_READ}:
        client = bearer(script_of(olga, *(reads - {missing})).token)
        answer = client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope"), missing
        status = 403 if missing == Scope.EXPENSES_READ else 200
        assert client.get(f"{path}?format=csv").status_code == status


EXPORTS = (
    "/api/trips/{trip}/export",
    "/api/trips/{trip}/export?format=xlsx",
    "/api/trips/{trip}/export?format=csv",
)


@pytest.mark.parametrize("path", EXPORTS)
def test_what_reads_a_whole_trip_has_one_limit(api, trip, olga, limits, path):
    limits(export="2/hour")
    client = api(olga)
    assert [client.get(path.format(trip=trip.pk)).status_code for _time in range(2)] == [200, 200]
    other = EXPORTS[0] if path != EXPORTS[0] else EXPORTS[1]
    assert api(olga).get(other.format(trip=trip.pk)).status_code == 429


def test_an_export_that_takes_long_counts_as_several(api, trip, olga, limits, monkeypatch):
    limits(export="1000/hour")
    client, path = api(olga), f"/api/trips/{trip.pk}/export"
    assert [remaining(client.get(path)) for _time in range(2)] == [999, 998]
    monkeypatch.setitem(throttling.SECONDS_OF_A_REQUEST, "export", 0.0001)
    client.get(path)
    assert remaining(client.get(path)) < 990


def test_an_import_that_takes_long_counts_as_several(api, olga, limits, monkeypatch):
    limits(**{"import": "1000/hour"})
    client, file = api(olga), json.loads(SPLITWISE_API)
    planned = client.post("/api/imports", file)
    assert remaining(planned) == 999
    monkeypatch.setitem(throttling.SECONDS_OF_A_REQUEST, "import", 0.0001)
    confirmed = client.post(f"{planned['Location']}/confirm")
    assert (confirmed.status_code, remaining(confirmed)) == (200, 998)
    assert remaining(client.post("/api/imports", file)) < 990
