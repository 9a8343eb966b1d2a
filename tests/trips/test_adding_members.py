"""Adding members, by id or by e-mail, and reading who is there."""

import pytest
from django.core.management import call_command

from tests.document import problem_of
from tests.factories import PASSWORD, TripFactory, UserFactory, add_guest, join
from tests.trips.bodies import summary
from trips.roles import TripRole

pytestmark = pytest.mark.either


def add(api, caller, trip, **body):
    return api(caller).post(f"/api/trips/{trip.pk}/members", body)


@pytest.fixture(params=["userId", "userId as text", "email", "email in capitals"])
def named(request, sam):
    """Sam, as a body may name him."""
    return {
        "userId": {"userId": sam.pk},
        "userId as text": {"userId": str(sam.pk)},
        "email": {"email": "sam@example.com"},
        "email in capitals": {"email": " SAM@Example.com "},
    }[request.param]


def test_null_beside_the_other_way_to_name_somebody_counts_as_left_out(api, trip, olga, sam):
    assert add(api, olga, trip, userId=sam.pk, email=None, role=None).status_code == 201


def test_a_member_is_added_as_viewer_unless_the_body_says_more(api, trip, olga, sam, named):
    response = add(api, olga, trip, **named)
    member = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"/api/trips/{trip.pk}/members/{sam.pk}"
    assert set(member) == {"id", "clientId", "tripId", "user", "role", "joinedAt"}
    assert (member["tripId"], member["role"]) == (trip.pk, "VIEWER")
    assert member["user"] == summary(sam, email=named.get("email") and "sam@example.com")
    assert member["joinedAt"].endswith("Z")
    member["user"]["email"] = "sam@example.com"
    assert api(sam).get(response["Location"]).json() == member


@pytest.mark.parametrize("granted", list(TripRole))
@pytest.mark.parametrize("caller", ["olga", "ed", "vera", "ada"])
def test_nobody_gives_a_role_above_their_own(api, trip, sam, request, caller, granted):
    """T67: An EDITOR can add members but give no role above their own."""
    from_editor = list(TripRole)[list(TripRole).index(TripRole.EDITOR) :]
    allowed = {"olga": list(TripRole), "ada": list(TripRole), "ed": from_editor}
    response = add(api, request.getfixturevalue(caller), trip, userId=sam.pk, role=granted)
    if granted in allowed.get(caller, ()):
        assert response.status_code == 201
        assert response.json()["role"] == granted
    else:
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")
        assert not trip.members.filter(user=sam).exists()


def test_nobody_is_added_twice(api, trip, olga, sam, named):
    first = add(api, olga, trip, **named).json()
    problem_of(add(api, olga, trip, **named, role="OWNER"), 409, "already_member")
    assert api(olga).get(f"/api/trips/{trip.pk}/members/{sam.pk}").json() == first


def test_an_unknown_user_is_the_same_404_by_id_and_by_email(api, trip, olga, ada):
    deleted = UserFactory(email="gone@example.com")
    api(ada).delete(f"/api/users/{deleted.pk}")
    barred = UserFactory(email="barred@example.com")
    barred.deactivate(by=None)
    answers = [
        add(api, olga, trip, userId=10**15),
        add(api, olga, trip, userId=2**63 - 1),
        add(api, olga, trip, userId=deleted.pk),
        add(api, olga, trip, email="nobody@example.com"),
        add(api, olga, trip, email="gone@example.com"),
        add(api, olga, trip, userId=barred.pk),
        add(api, olga, trip, email="barred@example.com"),
    ]
    problem_of(answers[0], 404, "user_not_found")
    assert len({response.content for response in answers}) == 1


def test_the_list_is_a_complete_array_in_the_order_of_joining(api, trip, vera):
    others = [UserFactory() for _other in range(120)]
    for user in others:
        join(trip, user)
    response = api(vera).get(f"/api/trips/{trip.pk}/members")
    members = response.json()
    assert response.status_code == 200
    assert len(members) == 123
    first = [member["user"]["name"] for member in members[:3]]
    assert first == ["Olga Owner", "Ed Editor", "Vera Viewer"]
    assert [member["user"]["id"] for member in members[3:]] == [user.pk for user in others]


@pytest.fixture
def abandoned(api, sam):
    """A trip with a guest, whose owner has deleted their account."""
    trip, owner = TripFactory(join_role="EDITOR"), UserFactory()
    join(trip, owner, TripRole.OWNER)
    add_guest(trip)
    response = api(owner).delete("/api/users/me", {"password": PASSWORD})
    assert response.status_code == 204, response.content
    return trip


def test_an_administrator_adds_an_owner_first(api, abandoned, ada, ed, olga):
    def add(user, role):
        body = {"userId": user.pk, "role": role}
        return api(ada).post(f"/api/trips/{abandoned.pk}/members", body)

    problem_of(add(ed, "EDITOR"), 409, "no_owner")
    assert add(olga, "OWNER").status_code == 201
    assert add(ed, "EDITOR").status_code == 201
    assert abandoned.members.present().count() == 3
    call_command("audit_ledger")
