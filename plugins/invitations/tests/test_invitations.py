"""Invitations: who makes them, who may accept them, and when they are over."""

from datetime import timedelta
from hashlib import sha256

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone

from plugins.invitations.models import MAX_OPEN_INVITATIONS, Invitation
from plugins.invitations.tests.claims import accept
from tests.document import problem_of
from tests.factories import TripFactory, UserFactory, join, overwrite, owned_trip
from tests.mailserver import token_in
from tests.stored import everything_stored
from tests.users.logins import bearer
from tripcompanion.observability.logs import without_secrets
from trips.deletion import delete_account
from trips.roles import TripRole
from users.models import Mail, ScopedToken, User


@pytest.fixture
def invite(api, trip, olga):
    """`invite(role="EDITOR")` creates an invitation as Olga."""

    def create(by=olga, **body):
        response = api(by).post(f"/api/trips/{trip.pk}/invitations", body)
        assert response.status_code == 201, response.content
        return response.json()

    return create


def look_at(api, invitation):
    return api(None).get(f"/api/invitations/{invitation['token']}")


def confirmed(user):
    overwrite(user, email_verified_at=timezone.now())
    return user


def test_a_link_has_a_token_that_is_shown_once_and_stored_as_a_hash(
    api, trip, olga, invite, settings
):
    """T152: The token of an invitation is random, and stored as a hash only."""
    created = invite(note="For the neighbours", role="EDITOR")
    token, link = created.pop("token"), created.pop("link")
    assert link == f"{settings.FRONTEND_URL}/invitation?token={token}"
    assert created["tripId"] == trip.pk
    assert created["createdBy"]["id"] == olga.pk
    assert (created["role"], created["note"], created["state"]) == (
        "EDITOR",
        "For the neighbours",
        "open",
    )
    assert (created["email"], created["maxUses"], created["uses"]) == (None, None, 0)
    assert api(olga).get(f"/api/trips/{trip.pk}/invitations").json()["items"] == [created]
    assert Invitation.objects.get().digest == sha256(token.encode()).hexdigest()
    assert token not in str(Invitation.objects.values().get())
    assert token not in without_secrets(f"GET /api/invitations/{token} 404")


def test_a_link_adds_everybody_who_accepts_it(api, trip, olga, sam, invite):
    created, nina = invite(role="EDITOR"), UserFactory()
    for user in (sam, nina):
        accepted = accept(api, user, created)
        assert accepted.status_code == 201
        member = accepted.json()
        assert (member["user"]["id"], member["role"]) == (user.pk, "EDITOR")
        assert accepted["Location"] == f"/api/trips/{trip.pk}/members/{user.pk}"
        assert api(user).get(accepted["Location"]).json() == member
    listed = api(olga).get(f"/api/trips/{trip.pk}/invitations").json()["items"]
    assert [(row["uses"], row["state"]) for row in listed] == [(2, "open")]


def test_the_preview_shows_what_is_needed_to_decide_and_nothing_else(api, trip, invite):
    created = invite(role="EDITOR", note="Secret", email="nina@example.com")
    assert look_at(api, created).json() == {
        "title": trip.title,
        "destination": "Lisbon",
        "startDate": "2026-05-14",
        "endDate": "2026-05-18",
        "invitedBy": "Olga Owner",
        "memberCount": 3,
        "role": "EDITOR",
    }
    assert bearer("stale").get(f"/api/invitations/{created['token']}").status_code == 200


def revoke(api, trip, olga, created):
    for _time in range(2):
        path = f"/api/trips/{trip.pk}/invitations/{created['id']}"
        assert api(olga).delete(path).status_code == 204


@pytest.mark.parametrize("end", ["used", "expired", "revoked", "demoted", "removed", "deactivated"])
def test_whatever_ended_an_invitation_it_is_as_if_it_had_never_been(
    api, trip, olga, ed, sam, invite, end
):
    created = invite(by=ed, maxUses=1)
    assert look_at(api, created).status_code == 200
    if end == "used":
        accept(api, UserFactory(), created)
    elif end == "expired":
        Invitation.objects.update(expires_at=timezone.now())
    elif end == "revoked":
        revoke(api, trip, olga, created)
    elif end == "demoted":
        api(olga).put(f"/api/trips/{trip.pk}/members/{ed.pk}/role", {"role": "VIEWER"})
    elif end == "removed":
        api(olga).delete(f"/api/trips/{trip.pk}/members/{ed.pk}")
    else:
        ed.deactivate(by=None)
    before = trip.members.count()
    never = {"token": "tci_never"}
    assert look_at(api, created).content == look_at(api, never).content
    assert accept(api, sam, created).content == accept(api, sam, never).content
    assert accept(api, sam, created).status_code == look_at(api, created).status_code == 404
    assert trip.members.count() == before
    [row] = api(olga).get(f"/api/trips/{trip.pk}/invitations").json()["items"]
    assert row["state"] == (end if end in {"used", "expired"} else "revoked")


def test_an_account_that_an_earlier_release_deactivated_invites_nobody(api, ed, sam, invite):
    created = invite(by=ed)
    overwrite(ed, is_active=False)
    assert look_at(api, created).status_code == accept(api, sam, created).status_code == 404


def test_an_editor_who_was_an_owner_no_longer_makes_owners(api, trip, olga, sam, invite):
    nina = UserFactory()
    join(trip, nina, TripRole.OWNER)
    to_own, to_edit = invite(by=nina, role="OWNER"), invite(by=nina, role="EDITOR")
    api(olga).put(f"/api/trips/{trip.pk}/members/{nina.pk}/role", {"role": "EDITOR"})
    assert accept(api, sam, to_own).status_code == 404
    assert accept(api, sam, to_edit).status_code == 201


def test_an_administrator_who_is_no_member_invites(api, trip, ada, sam, invite):
    created = invite(by=ada, role="OWNER")
    assert accept(api, sam, created).status_code == 201
    overwrite(ada, role="USER")
    assert look_at(api, created).status_code == 404


def test_nobody_invites_to_a_role_above_their_own(api, trip, ed):
    refused = api(ed).post(f"/api/trips/{trip.pk}/invitations", {"role": "OWNER"})
    problem_of(refused, 403, "forbidden")
    assert not Invitation.objects.exists()


def test_only_the_confirmed_address_accepts(api, trip, olga, sam, invite, mailoutbox):
    created = invite(email="Sam@Example.com")
    assert created["maxUses"] == 1
    problem_of(accept(api, UserFactory(), created), 403, "invited_by_address")
    problem_of(accept(api, sam, created), 403, "email_unverified")
    confirmed(sam)
    assert accept(api, sam, created).status_code == 201
    assert accept(api, sam, created).status_code == 404


def test_a_mail_has_a_link_of_its_own_and_no_word_of_a_user(api, trip, sam, invite, mailoutbox):
    created = invite(email=sam.email, note="Buy now", role="EDITOR")
    call_command("send_mail_queue", verbosity=0)
    [mail] = mailoutbox
    assert mail.to == [sam.email]
    for typed in (trip.title, trip.destination, "Olga", "Buy now", created["token"]):
        assert typed not in mail.subject + mail.body
    mailed = {"token": token_in(mail.body)}
    assert look_at(api, mailed).content == look_at(api, created).content
    assert accept(api, confirmed(sam), mailed).status_code == 201
    assert look_at(api, created).status_code == 404


def test_an_invitation_waits_for_the_registration(api, trip, invite, mailoutbox):
    created = invite(email="nina@example.com")
    call_command("send_mail_queue", verbosity=0)
    nina = confirmed(User.register("nina@example.com", "four-green-suitcases"))
    assert accept(api, nina, {"token": token_in(mailoutbox[0].body)}).status_code == 201
    assert look_at(api, created).status_code == 404


@pytest.mark.parametrize("end", ["revoked", "expired", "trip"])
def test_no_mail_is_sent_for_an_invitation_that_is_over(api, trip, olga, invite, mailoutbox, end):
    created = invite(email="nina@example.com")
    if end == "revoked":
        revoke(api, trip, olga, created)
    elif end == "expired":
        Invitation.objects.update(expires_at=timezone.now())
    else:
        assert api(olga).delete(f"/api/trips/{trip.pk}").status_code == 204
    call_command("send_mail_queue", verbosity=0)
    assert mailoutbox == []
    assert not Mail.objects.exists()


def test_an_address_is_invited_once_and_a_member_never(api, trip, olga, ed, invite):
    created = invite(email="nina@example.com")
    client, path = api(olga), f"/api/trips/{trip.pk}/invitations"
    problem_of(client.post(path, {"email": "NINA@example.com"}), 409, "already_invited")
    problem_of(client.post(path, {"email": ed.email}), 409, "already_member")
    revoke(api, trip, olga, created)
    assert client.post(path, {"email": "nina@example.com"}).status_code == 201
    assert Mail.objects.count() == 1


def test_a_member_is_no_member_twice(api, trip, ed, invite):
    problem_of(accept(api, ed, invite(role="OWNER")), 409, "already_member")
    assert trip.members.get(user=ed).role == TripRole.EDITOR
    assert Invitation.objects.get().uses == 0


def test_who_left_comes_back_with_the_new_role(api, trip, ed, invite):
    api(ed).post(f"/api/trips/{trip.pk}/members/leave")
    assert accept(api, ed, invite()).json()["role"] == "VIEWER"


def test_an_unconfirmed_address_is_enough_unless_the_settings_say_more(api, sam, invite, settings):
    settings.REQUIRE_VERIFIED_EMAIL = True
    created = invite()
    problem_of(accept(api, sam, created), 403, "email_unverified")
    assert accept(api, confirmed(sam), created).status_code == 201


def test_an_invitation_by_mail_works_once(api, trip, olga):
    body = {"maxUses": 2, "email": "nina@example.com"}
    refused = api(olga).post(f"/api/trips/{trip.pk}/invitations", body)
    assert list(problem_of(refused, 400, "invalid")["errors"]) == ["maxUses"]


def test_an_invitation_is_valid_for_two_weeks_unless_it_says_more(api, olga, sam, trip, invite):
    created = invite()
    for days, status in ((13, 200), (15, 404)):
        with time_machine.travel(timezone.now() + timedelta(days=days)):
            assert look_at(api, created).status_code == status


def test_there_are_only_so_many_open_invitations(api, trip, olga, invite):
    created = invite()
    values = Invitation.objects.values().get() | {"id": None}
    Invitation.objects.bulk_create(
        Invitation(**values | {"digest": f"{at:064}"}) for at in range(MAX_OPEN_INVITATIONS - 1)
    )
    path = f"/api/trips/{trip.pk}/invitations"
    problem_of(api(olga).post(path, {}), 409, "limit_reached")
    revoke(api, trip, olga, created)
    assert api(olga).post(path, {}).status_code == 201


def test_invitations_are_throttled(api, trip, olga, ed, sam, invite, limits):
    created = invite()
    limits(lookup="2/hour")
    for answer in (lambda: look_at(api, created), lambda: accept(api, sam, created)):
        statuses = [answer().status_code for _time in range(3)]
        assert statuses[2] == 429
        assert 429 not in statuses[:2]
    limits(lookup=None, mail="1/hour")
    path, body = f"/api/trips/{trip.pk}/invitations", {"email": "nina@example.com"}
    assert api(olga).post(path, body).status_code == 201
    # The address is what counts: another trip, another member, another spelling.
    other = owned_trip(ed)
    again = api(ed).post(f"/api/trips/{other.pk}/invitations", {"email": "NINA@example.com"})
    assert again.status_code == 429
    assert api(ed).post(path, {}).status_code == 201


def test_a_token_that_is_confined_to_another_trip_accepts_nothing(api, trip, sam, invite):
    created, other = invite(), TripFactory()
    join(other, sam)
    script = ScopedToken.issue(sam, name="Import", scopes=["trips:write"], trip_id=other.pk)
    path = f"/api/invitations/{created['token']}/accept"
    assert bearer(script.token).post(path).status_code == 404
    script = ScopedToken.issue(sam, name="Import", scopes=["trips:write"])
    assert bearer(script.token).post(path).status_code == 201


def test_a_repeated_acceptance_is_replayed_to_members_only(api, trip, olga, sam, invite):
    path = f"/api/invitations/{invite(maxUses=1)['token']}/accept"
    client = api(sam)
    first = client.post(path, HTTP_IDEMPOTENCY_KEY="once")
    again = client.post(path, HTTP_IDEMPOTENCY_KEY="once")
    assert (again.status_code, again.content) == (201, first.content)
    api(olga).delete(f"/api/trips/{trip.pk}/members/{sam.pk}")
    assert client.post(path, HTTP_IDEMPOTENCY_KEY="once").status_code == 404


def test_a_repeat_makes_no_second_one_and_shows_no_token(api, trip, olga):
    client, path = api(olga), f"/api/trips/{trip.pk}/invitations"
    first = client.post(path, {}, HTTP_IDEMPOTENCY_KEY="once").json()
    again = client.post(path, {}, HTTP_IDEMPOTENCY_KEY="once")
    problem_of(again, 409, "already_made")
    assert again.json()["id"] == first["id"] == Invitation.objects.get().pk
    assert first["token"] not in repr(everything_stored())
    other = client.post(path, {"role": "EDITOR"}, HTTP_IDEMPOTENCY_KEY="once")
    problem_of(other, 422, "idempotency_mismatch")


def test_the_history_has_the_note_until_its_author_is_deleted(api, trip, olga, ed, invite):
    invite(by=ed, note="For the neighbours")
    path = f"/api/trips/{trip.pk}/history?event=invitation.created"
    [row] = api(olga).get(path).json()["items"]
    assert row["changes"]["note"] == {"old": None, "new": "For the neighbours"}
    delete_account(ed, by=None)
    [row] = api(olga).get(path).json()["items"]
    assert row["changes"]["note"] == {"old": None, "new": None}


def test_a_deleted_account_leaves_no_address_in_invitations(trip, ed, sam, invite):
    invite(email=sam.email)
    kept = invite()
    invite(by=ed, email="nina@example.com")
    for user in (sam, ed):
        delete_account(user, by=None)
    assert [row.pk for row in Invitation.objects.all()] == [kept["id"]]
    assert not Mail.objects.filter(object_id__isnull=False).exists()
