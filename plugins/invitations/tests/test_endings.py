"""Invitations in the admin site, and those of administrators."""

import pytest

from plugins.invitations.models import Invitation
from plugins.invitations.tests.test_invitations import invite, look_at
from tests.admin_client import AdminClient, told
from tests.factories import UserFactory
from users.models import Role, User

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
