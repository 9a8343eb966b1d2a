"""Who was added to a trip and has not answered is neither shown to strangers nor bound by them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, join, owned_trip
from tests.trips.bodies import dinner, lisbon
from tests.trips.unanswered import add, bind, new_trip
from tests.users.logins import log_in
from tests.walked import all_of, answers
from trips.models import Member
from users.models import User

pytestmark = pytest.mark.either

#: Every list and object of a trip that names people.
PLACES = (
    *("", "/members", "/expenses", "/balances", "/settle-up", "/settlements"),
    *all_of("PLACES"),
)


@pytest.fixture
def stranger(db):
    return UserFactory(name="Stan")


@pytest.fixture
def theirs(api, stranger):
    yield (trip := new_trip(api, stranger))
    assert list(differences(trip.pk)) == []


def everything_shown(api, reader, trip, user):
    pages = [api(reader).get(f"/api/trips/{trip.pk}{place}") for place in PLACES]
    pages.append(api(reader).get(f"/api/users/{user.pk}"))
    client = {"HTTP_X_APP_CLIENT": "MapMyJourney"}
    pages.append(api(reader).get(f"/api/trips/{trip.pk}", **client))
    pages += [page for read in answers("read") for page in read(api(reader))]
    assert {page.status_code for page in pages} == {200}
    return "".join(page.content.decode() for page in pages)


def test_t193_adding_somebody_by_id_shows_no_address_until_they_answer(api, stranger, theirs, olga):
    """T193: Adding somebody reveals no address until that person has answered."""
    added = add(api, stranger, theirs, userId=olga.pk)
    assert (added.status_code, added.json()["user"]["email"]) == (201, None)
    bind(api, stranger, theirs, olga)
    assert olga.email not in everything_shown(api, stranger, theirs, olga)
    # Lists of her own are no answer.
    assert api(olga).get("/api/trips").json()["items"][0]["id"] == theirs.pk
    debts = api(olga).get(f"/api/users/{olga.pk}/pending-debts").json()
    assert debts[0]["participant"]["email"] == olga.email
    assert olga.email not in everything_shown(api, stranger, theirs, olga)
    assert api(olga).get(f"/api/trips/{theirs.pk}/members").status_code == 200
    assert everything_shown(api, stranger, theirs, olga).count(olga.email) >= 7
    assert not User.objects.get(pk=olga.pk).is_unanswered


def test_who_gave_the_address_sees_it_and_others_in_the_trip_do_not(
    api, stranger, theirs, olga, ed, ada
):
    add(api, stranger, theirs, userId=ed.pk)
    api(ed).get(f"/api/trips/{theirs.pk}")
    assert add(api, stranger, theirs, email=olga.email).json()["user"]["email"] == olga.email
    assert olga.email in everything_shown(api, stranger, theirs, olga)
    assert olga.email not in everything_shown(api, ed, theirs, olga)
    assert olga.email in everything_shown(api, ada, theirs, olga)


def test_who_shares_another_trip_knows_the_address_already(api, trip, olga, ed, theirs, stranger):
    second = owned_trip(ed)
    assert add(api, ed, second, userId=olga.pk).json()["user"]["email"] == olga.email
    join(second, stranger)
    assert olga.email not in everything_shown(api, stranger, second, olga)


def test_one_statement_finds_out_whose_addresses_a_reader_knows(api, trip, olga, ed):
    counts = set()
    for _more in range(2):
        for user in UserFactory.create_batch(4, is_unanswered=True):
            join(trip, user)
            trip.members.filter(user=user).update(introduced_by=olga.pk)
        for reader, shown in ((olga, True), (ed, False)):
            with CaptureQueriesContext(connection) as queries:
                members = api(reader).get(f"/api/trips/{trip.pk}/members").json()
            named = [
                each["user"]["email"] for each in members if "Traveller" in each["user"]["name"]
            ]
            assert {email is not None for email in named} == {shown}
            counts.add((shown, len(queries)))
    assert len(counts) == 2


def test_adding_counts_as_a_look_up(api, stranger, theirs, limits, db):
    limits(lookup="2/hour")
    answers = [
        add(api, stranger, theirs, userId=UserFactory().pk),
        add(api, stranger, theirs, email="nobody@example.com"),
        add(api, stranger, theirs, userId=UserFactory().pk),
    ]
    assert [answer.status_code for answer in answers] == [201, 404, 429]


def test_t194_trips_that_one_was_added_to_use_up_no_quota(api, stranger, theirs, olga, settings):
    """T194: Who was added and has not answered is bound to nothing."""
    settings.QUOTA_TRIPS = 1
    add(api, stranger, theirs, userId=olga.pk)
    assert api(olga).post("/api/trips", lisbon()).status_code == 201
    second = owned_trip(UserFactory())
    add(api, second.members.get().user, second, userId=olga.pk)
    problem_of(api(olga).post("/api/trips", lisbon()), 409, "limit_reached")


def test_t193_who_was_removed_before_they_answered_is_shown_without_their_address(
    api, stranger, theirs, olga, trip
):
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga)
    client, url = api(stranger), f"/api/trips/{theirs.pk}"
    for kind in ("expenses", "settlements"):
        [entry] = client.get(f"{url}/{kind}").json()["items"]
        assert client.delete(f"{url}/{kind}/{entry['id']}").status_code == 204
    assert client.delete(f"{url}/members/{olga.pk}").status_code == 204
    assert api(olga).get(f"/api/trips/{trip.pk}").status_code == 200
    pages = [client.get(f"{url}/{kind}?deleted=true") for kind in ("expenses", "settlements")]
    pages += [client.get(f"{url}/{file}") for file in all_of("FILES")]
    shown = b"".join(page.getvalue() for page in pages)
    assert olga.name.encode() in shown
    assert olga.email.encode() not in shown


def test_who_has_not_answered_is_as_free_and_hidden_once_the_trip_is_restored(
    api, stranger, theirs, olga, trip, settings
):
    settings.QUOTA_TRIPS = 1
    add(api, stranger, theirs, userId=olga.pk)
    assert api(stranger).delete(f"/api/trips/{theirs.pk}").status_code == 204
    # Without the deleted trip, she has answered everywhere, and her own trips fill her quota.
    assert api(olga).get(f"/api/trips/{trip.pk}").status_code == 200
    assert api(stranger).post(f"/api/trips/{theirs.pk}/restore").status_code == 200
    assert olga.email not in everything_shown(api, stranger, theirs, olga)
    assert api(olga).get(f"/api/trips/{theirs.pk}").status_code == 200
    bind(api, stranger, theirs, olga)
    problem_of(api(olga).post(f"/api/trips/{theirs.pk}/members/leave"), 409, "balance_open")


@pytest.mark.parametrize("role", ["VIEWER", "OWNER"])
def test_who_has_not_answered_may_always_leave_and_a_guest_keeps_the_entries(
    api, stranger, theirs, olga, ed, role
):
    add(api, stranger, theirs, userId=olga.pk, role=role)
    add(api, stranger, theirs, userId=ed.pk)
    bind(api, stranger, theirs, olga, ed, amount="100.00")
    before = api(stranger).get(f"/api/trips/{theirs.pk}/balances").json()
    assert api(olga).post(f"/api/trips/{theirs.pk}/members/leave").status_code == 204
    assert api(olga).get(f"/api/trips/{theirs.pk}").status_code == 404
    assert api(olga).get(f"/api/users/{olga.pk}/pending-debts").json() == []
    after = api(stranger).get(f"/api/trips/{theirs.pk}/balances").json()
    assert sorted(row["balance"] for row in after) == sorted(row["balance"] for row in before)
    [place] = [row["user"] for row in after if row["user"]["name"] == olga.name]
    assert (place["guest"], place["email"]) == (True, None)
    assert place["id"] != olga.pk
    expense = api(stranger).get(f"/api/trips/{theirs.pk}/expenses").json()["items"][0]
    assert place["id"] in [split["participant"]["id"] for split in expense["splits"]]


@pytest.mark.parametrize("cancelled", ["by a refund", "by a part of zero"])
@pytest.mark.parametrize("how", ["leaves", "is removed", "deletes the account"])
def test_who_goes_with_sums_of_zero_is_not_bound_by_later_changes(
    api, stranger, theirs, olga, how, cancelled
):
    add(api, stranger, theirs, userId=olga.pk)
    url = f"/api/trips/{theirs.pk}"

    def yacht(amount, *among):
        made = api(stranger).post(f"{url}/expenses", dinner(*among, amount=amount))
        assert made.status_code == 201, made.content
        return made.json()["id"]

    if cancelled == "by a refund":
        yacht("100", olga)
        last = yacht("-100", olga)
    else:
        # Of one cent, Olga bears nothing.
        last = yacht("0.01", stranger, olga)
    if how == "leaves":
        assert api(olga).post(f"{url}/members/leave").status_code == 204
    elif how == "is removed":
        assert api(stranger).delete(f"{url}/members/{olga.pk}").status_code == 204
    else:
        gone = {"password": PASSWORD}
        assert api(olga).delete("/api/users/me", gone).status_code == 204
    if cancelled == "by a refund":
        assert api(stranger).delete(f"{url}/expenses/{last}").status_code == 204
    else:
        raised = api(stranger).patch(f"{url}/expenses/{last}", {"amount": 100})
        assert raised.status_code == 200, raised.content
    rows = api(stranger).get(f"{url}/balances").json()
    assert olga.pk not in [row["user"]["id"] for row in rows if row["balance"]]


def test_who_has_answered_leaves_with_a_balance_of_zero_only(api, stranger, theirs, olga):
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga)
    assert api(olga).get(f"/api/trips/{theirs.pk}/balances").status_code == 200
    problem_of(api(olga).post(f"/api/trips/{theirs.pk}/members/leave"), 409, "balance_open")


def test_who_left_and_is_added_again_is_bound_to_nothing(api, stranger, theirs, olga, settings):
    leave = f"/api/trips/{theirs.pk}/members/leave"
    add(api, stranger, theirs, userId=olga.pk)
    assert api(olga).get(f"/api/trips/{theirs.pk}").status_code == 200
    assert api(olga).post(leave).status_code == 204
    settings.QUOTA_TRIPS = 1
    assert api(olga).post("/api/trips", lisbon()).status_code == 201
    assert add(api, stranger, theirs, userId=olga.pk).status_code == 201
    bind(api, stranger, theirs, olga)
    assert api(olga).post(leave).status_code == 204


@pytest.mark.parametrize("how", ["leaves", "deletes the account"])
def test_the_only_owner_who_has_not_answered_goes_and_another_member_becomes_owner(
    api, stranger, theirs, olga, ed, vera, how
):
    for user, role in ((vera, "VIEWER"), (ed, "EDITOR"), (olga, "OWNER")):
        add(api, stranger, theirs, userId=user.pk, role=role)
    for user in (vera, ed):
        assert api(user).get(f"/api/trips/{theirs.pk}").status_code == 200
    leave = f"/api/trips/{theirs.pk}/members/leave"
    assert api(stranger).post(leave).status_code == 204
    if how == "leaves":
        assert api(olga).post(leave).status_code == 204
    else:
        log_in(olga)
        assert api(olga).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    members = api(ed).get(f"/api/trips/{theirs.pk}/members").json()
    roles = {member["user"]["id"]: member["role"] for member in members}
    assert roles == {ed.pk: "OWNER", vera.pk: "VIEWER"}


def test_nobody_is_kept_from_deleting_their_account_by_what_others_recorded(
    api, stranger, theirs, olga
):
    log_in(olga)
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga)
    assert api(olga).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    balances = api(stranger).get(f"/api/trips/{theirs.pk}/balances").json()
    assert {row["user"]["name"]: row["user"]["guest"] for row in balances} == {
        "Stan": False,
        "Olga Owner": True,
    }


def test_debts_are_told_by_whether_one_has_answered(api, stranger, theirs, trip, olga, ed):
    bind(api, ed, trip, olga, amount="10.00")
    add(api, stranger, theirs, userId=olga.pk)
    bind(api, stranger, theirs, olga, amount="100.00")

    def owed(query=""):
        path = f"/api/users/{olga.pk}"
        pending = api(olga).get(f"{path}/pending-debts{query}").json()
        return [row["amount"] for row in pending], api(olga).get(f"{path}/total-debt{query}").json()

    assert owed() == ([5, 50], 53)
    assert owed("?answered=true") == ([5], 4)
    assert owed("?answered=false") == ([50], 49)
    refused = api(olga).get(f"/api/users/{olga.pk}/pending-debts?answered=1")
    assert problem_of(refused, 400)["errors"].keys() == {"answered"}


def test_who_lets_nobody_add_them_is_not_added(api, stranger, theirs, olga):
    profile = f"/api/users/{olga.pk}/profile"
    assert api(olga).get("/api/users/me").json()["mayBeAdded"] is True
    assert api(olga).put(profile, {"mayBeAdded": False}).json()["mayBeAdded"] is False
    for whom in ({"userId": olga.pk}, {"email": olga.email}):
        problem_of(add(api, stranger, theirs, **whom), 409, "invite_instead")
    assert not Member.objects.filter(user=olga).exists()
