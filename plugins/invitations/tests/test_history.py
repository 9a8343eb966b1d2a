"""What the history says of invitations, and that it forgets the names of guests who are claimed."""

from plugins.history.tests.test_history import texts
from tests.factories import PASSWORD
from tests.splits.ledger import Ledger
from tests.trips.test_journal import rows_of
from users.models import User


def test_an_invitation_has_a_sentence(api, trip, olga, vera):
    ledger = Ledger(trip, api, olga)
    ledger.client(olga).post(f"{ledger.url}/invitations", {"role": "EDITOR"})
    assert texts(ledger, vera) == ["Olga Owner invited somebody as editor."]


def test_a_deleted_account_is_a_member_who_left_and_no_name_of_it_remains(api, trip, olga, sam):
    """T161: The journal keeps no address, no token and no deleted name."""
    guest_id = (
        api(olga).post(f"/api/trips/{trip.pk}/guests", {"name": "Sammy"}).json()["user"]["id"]
    )
    api(olga).put(f"/api/trips/{trip.pk}/guests/{guest_id}", {"name": "Samuel"})
    body = {"guestUserId": guest_id, "email": sam.email, "note": "Samuel's"}
    User.objects.filter(pk=sam.pk).update(email_verified_at=sam.created_at)
    token = api(olga).post(f"/api/trips/{trip.pk}/invitations", body).json()["token"]
    assert api(sam).post(f"/api/invitations/{token}/accept").status_code == 201
    api(sam).delete("/api/users/me", {"password": "four-green-suitcases"})
    rows = rows_of(trip)
    assert [row.event for row in rows] == [
        "guest.added",
        "guest.renamed",
        "invitation.created",
        "invitation.accepted",
        "guest.claimed",
        "member.left",
        "invitation.revoked",
    ]
    text = " ".join(row.stored_changes for row in rows)
    for known in ("Sam", sam.email):
        assert known not in text
    assert rows[1].changes == {"name": {"old": None, "new": None}}


def test_the_names_of_guests_that_were_merged_before_a_claim_are_removed_too(api, trip, olga, sam):
    client, url = api(olga), f"/api/trips/{trip.pk}"
    names = ("Sammy", "Samuel", "Sam S.", "Grandma")
    sammy, samuel, sam_s, _grandma = (
        client.post(f"{url}/guests", {"name": name}).json()["user"]["id"] for name in names
    )
    for guest_id, user_id in ((sammy, samuel), (samuel, sam_s)):
        assert client.post(f"{url}/guests/{guest_id}/merge", {"userId": user_id}).status_code == 200
    token = client.post(f"{url}/invitations", {"guestUserId": sam_s}).json()["token"]
    assert api(sam).post(f"/api/invitations/{token}/accept").status_code == 201
    assert api(sam).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    text = " ".join(row.stored_changes for row in rows_of(trip))
    assert [name for name in names if name in text] == ["Grandma"]
