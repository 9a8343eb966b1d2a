"""An account that accepts an invitation takes the place of a guest, to the cent."""

import pytest
from django.apps import apps

from plugins.invitations.models import Invitation
from plugins.invitations.tests.claims import accept, invite
from splits.money import parse_places
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import TripFactory, UserFactory, add_guest, join, owned_trip, settle, spend
from tests.scoped import script_of
from tests.users.logins import bearer
from trips.models import JournalEntry
from trips.signals import author_replaced
from users.models import Mail, User


def test_an_editor_cannot_merge_by_an_invitation_what_only_an_owner_may(
    api, trip, olga, ed, vera, sam, grandma
):
    """T188: Only an OWNER gives a guest's entries to a member."""
    spend(trip, 9000, paid_by=olga, paid_by_user={grandma.pk: 9000}, among=[olga, ed, grandma])
    former = UserFactory()
    join(trip, former).remove(by=olga)
    before = api(olga).get(f"/api/trips/{trip.pk}/balances").content
    created = invite(api, trip, ed, grandma)
    for user in (ed, vera, former):
        problem_of(accept(api, user, created), 403, "forbidden")
    assert api(olga).get(f"/api/trips/{trip.pk}/balances").content == before
    # A stranger is who the invitation is for.
    assert accept(api, sam, created).status_code == 201
    assert not User.objects.filter(pk=grandma.pk).exists()


def test_a_token_that_may_not_change_entries_claims_none(api, trip, olga, sam, grandma):
    created = invite(api, trip, olga, grandma)
    path = f"/api/invitations/{created['token']}/accept"
    script = bearer(script_of(sam, "trips:read", "trips:write").token)
    problem_of(script.post(path), 403, "insufficient_scope")
    whole = bearer(script_of(sam, "trips:write", "expenses:write").token)
    assert whole.post(path).status_code == 201


def test_who_accepts_has_everything_that_the_guest_had(api, trip, olga, ed, sam, grandma):
    dinner = spend(trip, 9000, paid_by=olga, among=[olga, ed, grandma])
    spend(trip, 3000, paid_by=olga, paid_by_user={grandma.pk: 3000}, among=[ed, olga])
    settle(trip, grandma, olga, 500, by=olga)
    invitation = invite(api, trip, olga, grandma, role="EDITOR")
    assert (invitation["guest"]["name"], invitation["maxUses"]) == ("Grandma", 1)
    accepted = accept(api, sam, invitation)
    assert accepted.status_code == 201
    member = accepted.json()
    assert (member["user"]["id"], member["user"]["guest"], member["role"]) == (
        sam.pk,
        False,
        "EDITOR",
    )
    assert not User.objects.filter(pk=grandma.pk).exists()
    client = api(sam)
    shown = client.get(f"/api/trips/{trip.pk}/expenses/{dinner.pk}").json()
    assert [row["participant"]["name"] for row in shown["splits"]][2] == "Sam Stranger"
    balances = client.get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in balances} == {
        "Olga Owner": 40,
        "Ed Editor": -45,
        "Vera Viewer": 0,
        "Sam Stranger": 5,
    }
    assert len(client.get(f"/api/users/{sam.pk}/pending-debts").json()) == 1
    assert list(differences(trip.pk)) == []
    [row] = api(olga).get(f"/api/trips/{trip.pk}/invitations").json()["items"]
    assert (row["state"], row["guest"]) == ("used", None)


@pytest.mark.parametrize("way", ["claimed", "claimed by a member", "merged"])
def test_other_invitations_of_the_guest_are_revoked(api, trip, olga, ed, sam, grandma, way):
    """T184: Invitations of a guest who is claimed or merged are revoked."""
    used, other = (invite(api, trip, olga, grandma) for _number in range(2))
    left = [other["id"]]
    if way == "merged":
        left = [used["id"], other["id"]]
        path = f"/api/trips/{trip.pk}/guests/{grandma.pk}/merge"
        assert api(olga).post(path, {"userId": ed.pk}).status_code == 200
    else:
        user = sam if way == "claimed" else ed
        assert accept(api, user, used).status_code == 201
    problem_of(accept(api, UserFactory(), other), 404)
    rows = JournalEntry.objects.filter(trip=trip.pk, event="invitation.revoked")
    assert list(rows.order_by("number").values_list("object_id", flat=True)) == left
    assert not Invitation.objects.filter(pk__in=left).exists()


@pytest.mark.parametrize("way", ["claimed", "claimed by a member", "merged"])
def test_plugins_give_what_is_of_the_guest_before_they_revoke(
    api, trip, olga, ed, sam, grandma, way, monkeypatch
):
    steps = []

    def give(**_about):
        steps.append("given")

    def revoke(_trip_id, user_id, *, is_deleted):
        steps.append("revoked")
        return ()

    author_replaced.connect(give)
    monkeypatch.setattr(apps.get_app_config("invitations"), "revoked", revoke)
    if way == "merged":
        path = f"/api/trips/{trip.pk}/guests/{grandma.pk}/merge"
        assert api(olga).post(path, {"userId": ed.pk}).status_code == 200
    else:
        invitation = invite(api, trip, olga, grandma)
        assert accept(api, sam if way == "claimed" else ed, invitation).status_code == 201
    author_replaced.disconnect(give)
    assert steps == ["given", "revoked"]


def test_a_claim_counts_as_a_trip(api, trip, olga, sam, grandma, settings):
    settings.QUOTA_TRIPS = 1
    join(TripFactory(), sam)
    problem_of(accept(api, sam, invite(api, trip, olga, grandma)), 409, "limit_reached")


def test_only_a_guest_of_the_trip_can_be_named(api, trip, olga, ed, grandma):
    other = owned_trip(olga)
    path = f"/api/trips/{trip.pk}/invitations"
    for user_id in (ed.pk, add_guest(other).pk, 10**12):
        refused = api(olga).post(path, {"guestUserId": user_id})
        assert list(problem_of(refused, 400, "invalid")["errors"]) == ["guestUserId"]
    refused = api(olga).post(path, {"guestUserId": grandma.pk, "maxUses": 2})
    assert list(problem_of(refused, 400, "invalid")["errors"]) == ["maxUses"]
    invite(api, trip, olga, grandma)


def test_nobody_takes_the_place_of_a_guest_who_was_removed(api, trip, olga, sam, grandma):
    spend(trip, 600, paid_by=olga, among=[grandma])
    settle(trip, grandma, olga, 600, by=olga)
    invitation = invite(api, trip, olga, grandma, email=sam.email)
    assert api(olga).delete(f"/api/trips/{trip.pk}/members/{grandma.pk}").status_code == 204
    assert not Mail.objects.exists()
    assert accept(api, sam, invitation).status_code == 404


def test_the_odd_cents_stay_where_they_were(sam, api, trip, olga, ed):
    """T154: A claim gives an account all that the guest had, and moves no cent."""
    grandma = add_guest(trip)
    # Sam comes first by id, and the guest last.
    assert sam.pk < min(olga.pk, ed.pk)
    assert max(olga.pk, ed.pk) < grandma.pk

    def parts(expense):
        amounts = dict(expense.splits.values_list("participant", "amount_minor"))
        return [amounts.get(user.pk, 0) for user in (olga, ed, grandma, sam)]

    dinners = [spend(trip, 1000, paid_by=olga, among=[olga, ed, grandma]) for _day in range(3)]
    before = [parts(dinner) for dinner in dinners]
    assert accept(api, sam, invite(api, trip, olga, grandma)).status_code == 201
    for dinner, (of_olga, of_ed, of_guest, _none) in zip(dinners, before, strict=True):
        path = f"/api/trips/{trip.pk}/expenses/{dinner.pk}"
        for amount in (11, 10):
            assert api(olga).patch(path, {"amount": amount}).status_code == 200
        assert parts(dinner) == [of_olga, of_ed, 0, of_guest]
    assert list(differences(trip.pk)) == []


def test_a_claim_can_close_reopen_and_go_on(api, trip, olga, sam, grandma):
    spend(trip, 1000, paid_by=olga, among=[olga, grandma])
    closing = settle(trip, grandma, olga, 500, by=olga)
    accept(api, sam, invite(api, trip, olga, grandma))
    assert api(olga).delete(f"/api/trips/{trip.pk}/settlements/{closing.pk}").status_code == 204
    assert api(sam).get(f"/api/users/{sam.pk}/total-debt").json() == 5
    assert list(differences(trip.pk)) == []


@pytest.mark.soak
@pytest.mark.once
@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (["", ""], {}),
        (["", "17:11"], {17: 11}),
        (["17:11", "18:12"], {17: 11, 18: 12}),
        # Guest 12 took the place of guest 11, and account 17 that of guest 12.
        (["", "12:11 17:12"], {17: 11}),
        (["12:11", "17:12"], {17: 11}),
        (["17:12", "12:11"], {17: 11}),
        # Guest 12 took the place of account 17, which came back instead of another guest.
        (["", "12:17 17:11"], {12: 17, 17: 11}),
        (["12:17 17:11", "17:13"], {12: 17, 17: 13}),
        # The last that names an account decides.
        (["", "17:11 17:12"], {17: 12}),
        (["17:11", "17:13"], {17: 13}),
        (["", "12:17 13:17 18:12"], {13: 17, 18: 17}),
    ],
)
def test_whose_turn_it_is_follows_from_the_pairs(texts, places):
    assert {person: of for person, (of, _taken) in parse_places(*texts).items()} == places
