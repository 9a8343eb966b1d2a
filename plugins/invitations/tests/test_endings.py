"""How an invitation ends, and is forgotten."""

from datetime import timedelta
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from plugins.invitations.models import Invitation
from plugins.invitations.tests.test_invitations import invite, look_at
from tests.admin_client import AdminClient, told
from tests.factories import UserFactory
from tests.locks import while_locked
from tests.splits.journey import Journey, sign_up
from tests.test_newer_values import newer_constraint
from users.models import Mail, Role, User

__all__ = ["invite"]


def test_what_an_administrator_invited_to_ends_with_the_role_and_does_not_come_back(
    api, trip, olga, ada
):
    former = UserFactory(role=Role.ADMIN)
    url, body = f"/api/trips/{trip.pk}/invitations", {"email": "nina@example.com"}
    created = api(former).post(url, body).json()
    for role in (Role.USER, Role.ADMIN):
        assert told(AdminClient(ada).change(User.objects.get(pk=former.pk), role=role))
        assert look_at(api, created).status_code == 404
    history = api(olga).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [created["id"]]
    assert api(olga).post(url, body).status_code == 201


def test_an_administrator_revokes_invitations(api, trip, ada, invite):
    created, admin = invite(email="nina@example.com"), AdminClient(ada)
    row = Invitation.objects.get()
    assert created["token"] not in admin.page(row).content.decode()
    assert row.digest not in admin.page(row).content.decode()
    assert told(admin.act("revoke", row)) == ["Invitations revoked: 1."]
    assert look_at(api, created).status_code == 404
    assert told(admin.act("revoke", row)) == ["Invitations revoked: 0."]


@pytest.mark.parametrize("action", ["deactivate", "log_out"])
def test_the_history_says_that_an_administrator_ended_an_invitation_with_its_sessions(
    api, trip, olga, ed, ada, invite, action
):
    created = invite(by=ed)
    AdminClient(ada).act(action, ed)
    assert look_at(api, created).status_code == 404
    history = api(olga).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [(row["by"]["id"], row["via"]) for row in history["items"]] == [(ada.pk, "admin")]


MONTH = timedelta(days=30, minutes=1)


def test_an_invitation_is_kept_for_a_month_and_its_mail_goes_with_it(api, trip, olga):
    path = f"/api/trips/{trip.pk}/invitations"
    assert api(olga).post(path, {"email": "nina@example.com"}).status_code == 201
    for ago, left in ((MONTH - timedelta(minutes=2), 1), (MONTH, 0)):
        Invitation.objects.update(expires_at=timezone.now() - ago)
        call_command("prune", stdout=StringIO())
        assert Invitation.objects.count() == Mail.objects.count() == left


@pytest.mark.parametrize("is_deleted", [False, True])
def test_the_history_says_what_ended_with_the_sessions(api, trip, olga, ed, ada, is_deleted):
    path = f"/api/trips/{trip.pk}/invitations"
    of_olga, of_ed = (api(user).post(path, {}).json() for user in (olga, ed))
    if is_deleted:
        api(ada).delete(f"/api/trips/{trip.pk}")
    olga.log_out_everywhere(by=None)
    if is_deleted:
        api(olga).post(f"/api/trips/{trip.pk}/restore")
    answers = (api(None).get(f"/api/invitations/{made['token']}") for made in (of_olga, of_ed))
    assert [answer.status_code for answer in answers] == [404, 200]
    history = api(ada).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [of_olga["id"]]


def test_t195_an_invitation_that_waits_for_the_trip_while_the_sessions_end_is_void(server, http):
    owner = sign_up(http)
    trip = Journey.start(owner)
    invite = partial(owner.call, "POST", f"{trip.path}/invitations", {})
    end = partial(owner.call, "POST", "/users/me/logout-everywhere")
    made, ended = while_locked(server, "trips_trip", trip.id, [invite, end])
    assert ended.is_success
    if made.is_success:
        assert http.get(f"/api/invitations/{made.json()['token']}").status_code == 404


def test_an_invitation_to_an_unknown_role_outlives_this_release(api, olga, ed, trip):
    url = f"/api/trips/{trip.pk}"
    made = api(olga).post(f"{url}/invitations", {}).json()
    with newer_constraint("trips_invitation", "invitation_role_known"):
        Invitation.objects.filter(pk=made["id"]).update(role="GUIDE")
    # A change of roles revokes what their members may no longer invite to.
    assert api(olga).put(f"{url}/members/{ed.pk}/role", {"role": "VIEWER"}).status_code == 200
    [listed] = api(olga).get(f"{url}/invitations").json()["items"]
    assert (listed["role"], listed["state"]) == ("GUIDE", "open")
