"""Linking accounts of providers to one's own account, and removing them."""

from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from plugins.sign_in.models import Identity
from plugins.sign_in.tests.provider import EXAMPLE, OTHER, learn, linked, token_of
from tests.document import problem_of
from tests.factories import PASSWORD
from trips.deletion import delete_account
from users.models import Mail, Session, User

pytestmark = [pytest.mark.either, pytest.mark.django_db]

OWN = "/api/users/me/identities"


@pytest.fixture(autouse=True)
def provider(settings):
    settings.OIDC_PROVIDERS = [EXAMPLE, OTHER]
    learn()
    learn(provider=OTHER)


def body(key="example", **claims):
    return {"provider": key, "idToken": token_of(OTHER if key == "other" else EXAMPLE, **claims)}


def log_in(**claims):
    return APIClient().post("/api/users/login/oidc", body(**claims))


def test_a_linked_account_logs_in(api, olga):
    made = api(olga).post(OWN, body(email=None))
    assert made.status_code == 201
    identity = made.json()
    assert (identity["provider"], identity["email"], identity["usedAt"]) == ("example", "", None)
    assert log_in().json()["user"]["id"] == olga.pk
    [row] = api(olga).get(OWN).json()["items"]
    assert row["id"] == identity["id"]
    assert row["usedAt"] is not None


def test_its_owner_is_told(api, olga):
    api(olga).post(OWN, body())
    assert [(row.letter, row.address) for row in Mail.objects.all()] == [
        ("LOG_IN_LINKED", olga.email)
    ]


def test_an_account_is_linked_once(api, olga, ed):
    api(olga).post(OWN, body())
    problem_of(api(ed).post(OWN, body()), 409, "identity_taken")
    problem_of(api(olga).post(OWN, body()), 409, "identity_taken")
    problem_of(api(olga).post(OWN, body(sub="2")), 409, "identity_taken")
    assert api(ed).post(OWN, body(sub="2")).status_code == 201
    assert api(olga).post(OWN, body("other")).status_code == 201


def test_a_token_that_linked_does_not_log_in(api, olga):
    used = body()
    api(olga).post(OWN, used)
    problem_of(APIClient().post("/api/users/login/oidc", used), 401, "bad_credentials")
    assert problem_of(api(olga).post(OWN, used), 400, "invalid")["errors"].keys() == {"idToken"}


def test_a_stolen_token_adds_and_removes_no_way_in(api, olga):
    """T237: A token that is older than ten minutes links and removes no provider."""
    client, identity = api(olga), linked(olga)
    for session in Session.objects.filter(user=olga):
        then = session.created_at - timedelta(minutes=11)
        Session.objects.filter(pk=session.pk).update(created_at=then)
    problem_of(client.post(OWN, body("other")), 403, "log_in_again")
    problem_of(client.delete(f"{OWN}/{identity.pk}"), 403, "log_in_again")
    assert [*Identity.objects.all()] == [identity]


def test_the_last_way_in_stays_until_there_is_a_password(api):
    user, identity = User.objects.get(pk=log_in().json()["user"]["id"]), Identity.objects.get()
    client = api(user)
    problem_of(client.delete(f"{OWN}/{identity.pk}"), 409, "last_way_in")
    other = client.post(OWN, body("other")).json()
    assert client.delete(f"{OWN}/{identity.pk}").status_code == 204
    problem_of(client.delete(f"{OWN}/{other['id']}"), 409, "last_way_in")
    user.refresh_from_db()
    user.change(by=None, password=PASSWORD)
    assert api(user).delete(f"{OWN}/{other['id']}").status_code == 204
    problem_of(log_in(email="x"), 409, "link_first")


def test_a_provider_that_is_gone_is_no_way_in(api, settings):
    user = User.objects.get(pk=log_in().json()["user"]["id"])
    linked(user, provider=OTHER)
    settings.OIDC_PROVIDERS = [EXAMPLE]
    own = Identity.objects.get(issuer=EXAMPLE.issuer)
    assert [row["provider"] for row in api(user).get(OWN).json()["items"]] == ["example", None]
    problem_of(api(user).delete(f"{OWN}/{own.pk}"), 409, "last_way_in")


def test_a_deleted_account_takes_them_along(api, sam):
    linked(sam)
    [row] = api(sam).get("/api/users/me/export").json()["identities"]
    assert (row["issuer"], row["subject"]) == (EXAMPLE.issuer, "24400320")
    delete_account(sam, by=None)
    assert not Identity.objects.exists()
    # Whoever comes with it later is somebody new.
    assert log_in().status_code == 201


def test_an_account_without_a_password_sets_one_to_be_deleted(api):
    user = User.objects.get(pk=log_in().json()["user"]["id"])
    problem_of(api(user).delete("/api/users/me", {"password": PASSWORD}), 400, "invalid")
    user.change(by=None, password=PASSWORD)
    assert api(user).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
