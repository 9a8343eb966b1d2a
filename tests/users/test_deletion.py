"""Deletion by ADMIN: the account is emptied, memberships end, what others rely on stays."""

import pytest
from rest_framework.test import APIClient

from tests.document import problem_of
from tests.factories import PASSWORD, UserFactory, join, owned_trip, spend
from tests.trips.bodies import summary
from tests.users.logins import is_alive, log_in, refresh, try_to_log_in
from trips.models import Member
from trips.roles import TripRole
from users.models import Role, Session, User


@pytest.fixture
def delete(api, ada):
    client = api(ada)

    def delete_user(user):
        return client.delete(f"/api/users/{user.pk}")

    return delete_user


def test_the_account_is_emptied(delete, sam):
    User.objects.filter(pk=sam.pk).update(profile_picture="/sam.webp")
    response = delete(sam)
    assert (response.status_code, response.content) == (204, b"")
    sam.refresh_from_db()
    assert (sam.name, sam.email, sam.email_key) == ("Deleted user", None, None)
    assert sam.profile_picture is None
    assert (sam.is_active, sam.has_usable_password()) == (False, False)
    assert sam.deleted_at is not None


def test_every_token_dies_at_once_and_no_log_in_is_kept(delete, sam):
    pairs = [log_in(sam), log_in(sam)]
    delete(sam)
    assert not any(is_alive(pair["token"]) for pair in pairs)
    assert {refresh(pair["refreshToken"]).status_code for pair in pairs} == {401}
    assert try_to_log_in("sam@example.com").status_code == 401
    assert not Session.objects.filter(user=sam).exists()


def test_afterwards_it_is_as_if_it_had_never_been(api, delete, ada, sam):
    delete(sam)
    client = api(ada)
    for path in ("", "/pending-debts", "/total-debt"):
        gone, never = (client.get(f"/api/users/{pk}{path}") for pk in (sam.pk, 10**15))
        assert gone.status_code == 404
        assert gone.content == never.content
    assert client.delete(f"/api/users/{sam.pk}").status_code == 404
    assert client.put(f"/api/users/{sam.pk}/profile", {"name": "Sam"}).status_code == 404
    body = {"name": "Sam", "email": "sam@example.com", "password": PASSWORD}
    assert client.put(f"/api/users/{sam.pk}", body).status_code == 404
    assert client.get("/api/users/email/sam@example.com").status_code == 404


def test_the_address_is_free_for_a_new_account_that_inherits_nothing(api, delete, trip, vera):
    delete(vera)
    body = {"email": "vera@example.com", "password": PASSWORD}
    answer = APIClient().post("/api/users/register", body).json()
    assert answer["user"]["id"] != vera.pk
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {answer['token']}")
    assert client.get("/api/trips").json()["total"] == 0


def test_the_memberships_end(api, delete, trip, olga, vera):
    delete(vera)
    client = api(olga)
    members = client.get(f"/api/trips/{trip.pk}/members").json()
    assert [member["user"]["name"] for member in members] == ["Olga Owner", "Ed Editor"]
    assert client.get(f"/api/trips/{trip.pk}/members/{vera.pk}").status_code == 404
    assert not Member.objects.present().filter(user=vera).exists()


def test_open_debts_stay_visible_to_the_other_side(api, delete, trip, olga, ed, vera):
    expense = spend(trip, 3000, paid_by=olga, among=[olga, ed, vera])
    assert delete(vera).status_code == 204
    client = api(olga)
    nobody = summary(vera, name="Deleted user", email=None)
    splits = client.get(f"/api/expenses/{expense.pk}/splits").json()
    hers = next(split for split in splits if split["participant"]["id"] == vera.pk)
    assert hers["participant"] == nobody
    assert (hers["amount"], hers["paid"]) == (10, False)
    balances = client.get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["id"]: row["balance"] for row in balances} == {
        olga.pk: 20,
        ed.pk: -10,
        vera.pk: -10,
    }
    assert next(row["user"] for row in balances if row["user"]["id"] == vera.pk) == nobody


def test_what_a_deleted_member_owed_can_still_be_paid(api, delete, trip, olga, vera):
    expense = spend(trip, 2000, paid_by=olga, among=[olga, vera])
    delete(vera)
    client = api(olga)
    split = expense.splits.get(participant=vera)
    response = client.put(f"/api/expenses/{expense.pk}/splits/{split.pk}/pay")
    assert response.json()["paid"] is True
    balances = client.get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["balance"] for row in balances} == {0}


def test_the_last_owner_of_others_cannot_be_deleted(api, delete, trip, olga):
    owned_trip(olga)
    pair = log_in(olga)
    problem_of(delete(olga), 409, "last_owner")
    assert is_alive(pair["token"])
    assert api(olga).get("/api/trips").json()["total"] == 2


def test_an_owner_beside_another_one_can_be_deleted(delete, trip, olga):
    join(trip, UserFactory(), TripRole.OWNER)
    assert delete(olga).status_code == 204


def test_a_former_member_does_not_keep_the_last_owner(api, delete, olga, ed):
    trip = owned_trip(olga)
    join(trip, ed)
    api(ed).post(f"/api/trips/{trip.pk}/members/leave")
    assert delete(olga).status_code == 204


def test_the_last_administrator_cannot_be_deleted(delete, trip, ada):
    join(trip, ada)
    problem_of(delete(ada), 409, "last_admin")
    assert User.objects.get(pk=ada.pk).email == "ada@example.com"
    assert Member.objects.present().filter(user=ada).exists()


def test_a_deactivated_or_deleted_administrator_does_not_count(delete, ada):
    deleted, deactivated = (UserFactory(role=Role.ADMIN) for _other in range(2))
    assert delete(deleted).status_code == 204
    deactivated.deactivate(by=None)
    problem_of(delete(ada), 409, "last_admin")


def test_an_administrator_beside_another_one_can_be_deleted_also_by_themselves(api, ada):
    UserFactory(role=Role.ADMIN)
    client = api(ada)
    assert client.delete(f"/api/users/{ada.pk}").status_code == 204
    assert client.get("/api/users/me").status_code == 401
