"""What became of invitations is in the changes."""

import pytest

from plugins.invitations.tests.test_invitations import invite, look_at

__all__ = ["invite"]


@pytest.mark.parametrize("end", ["demoted", "removed", "left"])
def test_what_became_void_stays_void_and_the_changes_say_so(api, trip, olga, ed, invite, end):
    created, theirs = invite(by=ed), invite()
    cursor = api(olga).get("/api/changes").json()["cursor"]
    path = f"/api/trips/{trip.pk}/members/{ed.pk}"
    if end == "demoted":
        api(olga).put(f"{path}/role", {"role": "VIEWER"})
        api(olga).put(f"{path}/role", {"role": "EDITOR"})
    else:
        api(olga).delete(path) if end == "removed" else api(ed).post(
            f"/api/trips/{trip.pk}/members/leave"
        )
        api(olga).post(f"/api/trips/{trip.pk}/members", {"userId": ed.pk, "role": "EDITOR"})
    assert look_at(api, created).status_code == 404
    assert look_at(api, theirs).status_code == 200
    changes = api(olga).get(f"/api/changes?since={cursor}").json()["items"]
    states = {
        row["object"]["id"]: row["state"]
        for row in changes
        if row["object"]["type"] == "invitation"
    }
    assert states[created["id"]]["state"] == "revoked"
    history = api(olga).get(f"/api/trips/{trip.pk}/history?event=invitation.revoked").json()
    assert [row["object"]["id"] for row in history["items"]] == [created["id"]]
