"""Who joins by an invitation: it is an answer, and a way in where there is no other."""

import pytest
from django.core.management import call_command

from tests.document import problem_of
from tests.factories import purge
from tests.trips.test_adding_members import abandoned
from tests.trips.test_deleted_trips import delete, lived, restored, url
from tests.trips.test_unanswered import add, everything_shown, stranger, theirs
from trips.models import Member
from users.models import Mail

__all__ = ["abandoned", "lived", "stranger", "theirs"]


def test_taking_the_place_of_a_guest_is_an_answer(api, stranger, theirs, olga):
    add(api, stranger, theirs, userId=olga.pk)
    client, url = api(stranger), f"/api/trips/{theirs.pk}"
    guest = client.post(f"{url}/guests", {"name": "Grandma"}).json()["user"]["id"]
    token = client.post(f"{url}/invitations", {"guestUserId": guest}).json()["token"]
    assert api(olga).post(f"/api/invitations/{token}/accept").status_code == 201
    assert olga.email in everything_shown(api, stranger, theirs, olga)


def test_who_lets_nobody_add_them_is_invited_instead(api, stranger, theirs, olga):
    api(olga).put(f"/api/users/{olga.pk}/profile", {"mayBeAdded": False})
    link = api(stranger).post(f"/api/trips/{theirs.pk}/invitations", {}).json()["token"]
    accepted = api(olga).post(f"/api/invitations/{link}/accept")
    assert (accepted.status_code, accepted.json()["user"]["email"]) == (201, olga.email)
    assert olga.email in everything_shown(api, stranger, theirs, olga)
    problem_of(add(api, stranger, theirs, userId=olga.pk), 409, "already_member")


@pytest.mark.parametrize("names_guest", [False, True])
def test_an_invitation_by_an_administrator_admits_an_owner_first(
    api, abandoned, ada, sam, names_guest
):
    guest = Member.objects.get(trip=abandoned, user__is_guest=True).user_id
    named = {"guestUserId": guest} if names_guest else {}

    def accept(role):
        path, body = f"/api/trips/{abandoned.pk}/invitations", {"role": role, **named}
        token = api(ada).post(path, body).json()["token"]
        return api(sam).post(f"/api/invitations/{token}/accept")

    problem_of(accept("EDITOR"), 409, "no_owner")
    assert not abandoned.members.present().filter(user=sam).exists()
    assert accept("OWNER").json()["role"] == "OWNER"
    call_command("audit_ledger")


def test_an_invitation_comes_back_with_its_trip(api, lived, olga, ed, sam):
    token = api(ed).post(url(lived, "invitations"), {}).json()["token"]
    delete(api, lived, olga)
    assert api(olga).get(url(lived, "invitations")).status_code == 404
    assert api(sam).get(f"/api/invitations/{token}").status_code == 404
    assert api(sam).post(f"/api/invitations/{token}/accept").status_code == 404
    restored(api, lived, olga)
    assert api(None).get(f"/api/invitations/{token}").status_code == 200


def test_mails_end_with_their_trip(api, trip, olga):
    invited = api(olga).post(url(trip, "invitations"), {"email": "nina@example.com"})
    assert invited.status_code == 201
    assert Mail.objects.exists()
    delete(api, trip, olga)
    purge(trip)
    assert not Mail.objects.exists()


def test_sessions_end_in_a_trip_that_is_full_of_changes(api, trip, olga, settings):
    token = api(olga).post(url(trip, "invitations"), {}).json()["token"]
    settings.QUOTA_CHANGES = 1
    assert api(olga).post("/api/users/me/logout-everywhere").status_code == 204
    assert api(None).get(f"/api/invitations/{token}").status_code == 404
