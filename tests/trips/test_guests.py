"""Guests: members with a name and no account."""

import pytest
from django.db import IntegrityError, transaction
from rest_framework.exceptions import NotFound

from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import PASSWORD, TripFactory, add_guest, join, owned_trip, purge, settle, spend
from tests.trips.bodies import summary
from trips.deletion import delete_account
from trips.roles import TripRole
from users.models import Mail, User


def test_a_guest_is_a_viewer_with_a_name_and_nothing_else(api, trip, ed):
    created = api(ed).post(f"/api/trips/{trip.pk}/guests", {"name": " Grandma "})
    assert created.status_code == 201
    member = created.json()
    guest = trip.members.guests().get().user
    assert created["Location"] == f"/api/trips/{trip.pk}/members/{guest.pk}"
    assert member["user"] == summary(guest, name="Grandma", email=None, guest=True)
    assert (member["tripId"], member["role"]) == (trip.pk, "VIEWER")
    assert api(ed).get(created["Location"]).json() == member
    assert api(ed).get(f"/api/trips/{trip.pk}/members").json()[-1] == member
    assert api(ed).get(f"/api/trips/{trip.pk}").json()["members"][-1] == member


def test_a_guest_is_renamed(api, trip, ed):
    guest = add_guest(trip)
    client, path = api(ed), f"/api/trips/{trip.pk}/guests/{guest.pk}"
    renamed = client.put(path, {"name": "Granny"})
    assert renamed.json()["user"]["name"] == "Granny"
    assert client.get(f"/api/trips/{trip.pk}/members/{guest.pk}").json() == renamed.json()


def test_only_guests_are_renamed(api, trip, olga, vera):
    refused = api(olga).put(f"/api/trips/{trip.pk}/guests/{vera.pk}", {"name": "Granny"})
    problem_of(refused, 404, "not_found")
    with pytest.raises(NotFound):
        trip.members.get(user=vera).rename_guest("Granny", by=olga)
    vera.refresh_from_db()
    assert vera.name == "Vera Viewer"


def test_a_guest_of_another_trip_is_not_found(api, trip, olga):
    other = owned_trip(olga)
    guest = add_guest(other)
    client, url = api(olga), f"/api/trips/{trip.pk}"
    renamed = client.put(f"{url}/guests/{guest.pk}", {"name": "Granny"})
    assert renamed.status_code == client.get(f"{url}/members/{guest.pk}").status_code == 404


def test_a_guest_cannot_be_promoted(api, trip, olga):
    guest = add_guest(trip)
    client, path = api(olga), f"/api/trips/{trip.pk}/members/{guest.pk}/role"
    for role in ("EDITOR", "OWNER"):
        problem_of(client.put(path, {"role": role}), 409, "guest_is_viewer")
    assert client.put(path, {"role": "VIEWER"}).status_code == 200
    assert trip.members.get(user=guest).role == TripRole.VIEWER


def test_a_guest_is_added_to_no_other_trip(api, trip, olga):
    guest, other = add_guest(trip), TripFactory()
    join(other, olga, TripRole.OWNER)
    for body in ({"userId": guest.pk}, {"userId": guest.pk, "role": "VIEWER"}):
        problem_of(api(olga).post(f"/api/trips/{other.pk}/members", body), 404, "user_not_found")
    assert guest.memberships.count() == 1


def test_there_are_no_more_guests_than_members(api, trip, olga, settings):
    settings.QUOTA_MEMBERS = 4
    client, path = api(olga), f"/api/trips/{trip.pk}/guests"
    assert client.post(path, {"name": "Grandma"}).status_code == 201
    problem_of(client.post(path, {"name": "Grandpa"}), 409, "limit_reached")
    assert User.objects.filter(is_guest=True).count() == 1


def test_only_companions_and_administrators_see_a_guest(api, trip, olga, vera, sam, ada):
    guest = add_guest(trip)
    path = f"/api/users/{guest.pk}"
    assert api(vera).get(path).json()["name"] == "Grandma"
    assert api(ada).get(path).json()["email"] is None
    assert api(sam).get(path).content == api(sam).get("/api/users/999999999").content
    assert api(sam).get(path).status_code == 404
    api(olga).delete(f"/api/trips/{trip.pk}/members/{guest.pk}")
    assert api(vera).get(path).status_code == 404


def test_a_guest_is_no_account_for_an_administrator(api, trip, olga, ada):
    guest = add_guest(trip)
    client, path = api(ada), f"/api/users/{guest.pk}"
    body = {"name": "Grandma", "email": "grandma@example.com", "password": PASSWORD}
    for answer in (
        client.put(path, body),
        client.put(f"{path}/profile", {"email": "grandma@example.com"}),
        client.delete(path),
    ):
        assert answer.status_code == 404
    with pytest.raises(NotFound):
        guest.change(by=ada, email="grandma@example.com")
    with pytest.raises(NotFound):
        delete_account(guest, by=ada, as_admin=True)
    with pytest.raises(NotFound):
        guest.ask_for_reset(by=ada)
    spend(trip, 600, paid_by=olga, among=[guest])
    assert client.get(f"{path}/total-debt").json() == 6
    assert [row["amount"] for row in client.get(f"{path}/pending-debts").json()] == [6]
    guest.refresh_from_db()
    assert (guest.name, guest.is_guest, guest.has_usable_password()) == ("Grandma", True, False)


@pytest.mark.parametrize(
    "columns",
    [
        {"is_active": True},
        {"email": "grandma@example.com"},
        {"email_key": "grandma@example.com"},
        {"role": "ADMIN"},
    ],
)
def test_the_database_gives_no_guest_an_account(trip, columns):
    """T151: A guest has no account, no address, no password and no higher role."""
    guest = add_guest(trip)
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=guest.pk).update(**columns)


def test_no_guest_logs_in(api, trip):
    add_guest(trip, "grandma@example.com")
    for email in ("grandma@example.com", "None", ""):
        answer = api(None).post("/api/users/login", {"email": email, "password": "!"})
        assert answer.status_code in {400, 401}
    assert api(None).post("/api/users/password-reset", {"email": "grandma@example.com"})
    assert Mail.objects.filter(user__is_guest=True).count() == 0


def test_a_guest_without_entries_is_deleted_with_the_membership(api, trip, olga):
    guest = add_guest(trip)
    assert api(olga).delete(f"/api/trips/{trip.pk}/members/{guest.pk}").status_code == 204
    assert not User.objects.filter(pk=guest.pk).exists()
    assert trip.members.count() == 3


def test_a_guest_with_an_open_balance_stays(api, trip, olga):
    guest = add_guest(trip)
    spend(trip, 600, paid_by=olga, among=[guest])
    problem_of(api(olga).delete(f"/api/trips/{trip.pk}/members/{guest.pk}"), 409, "balance_open")
    assert trip.members.get(user=guest).left_at is None


@pytest.mark.parametrize("is_expense_deleted", [False, True])
def test_the_entries_of_a_removed_guest_keep_their_name(api, trip, olga, is_expense_deleted):
    guest = add_guest(trip)
    expense = spend(trip, 600, paid_by=olga, among=[guest])
    settle(trip, guest, olga, 600, by=olga)
    client = api(olga)
    assert client.delete(f"/api/trips/{trip.pk}/members/{guest.pk}").status_code == 204
    path = f"/api/trips/{trip.pk}/expenses/{expense.pk}"
    shown = client.get(path).json()["splits"][0]["participant"]
    assert (shown["name"], shown["guest"]) == ("Grandma", True)
    assert [row["id"] for row in client.get(f"/api/trips/{trip.pk}").json()["members"]] == list(
        trip.members.present().values_list("pk", flat=True)
    )
    if is_expense_deleted:
        assert client.delete(path).status_code == 204
    assert list(differences(trip.pk)) == []


def test_a_deleted_trip_takes_its_guests_along(api, trip, olga):
    other = owned_trip(olga)
    kept, removed = add_guest(other), add_guest(trip)
    spend(trip, 600, paid_by=olga, among=[add_guest(trip)])
    api(olga).delete(f"/api/trips/{trip.pk}/members/{removed.pk}")
    assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    purge(trip)
    assert list(User.objects.filter(is_guest=True)) == [kept]
    assert User.objects.filter(is_guest=False).count() == 3


def test_guests_do_not_need_an_owner(api, sam):
    trip = owned_trip(sam)
    add_guest(trip)
    assert api(sam).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
