"""Passwords in the admin site: one's own, and those of others."""

import pytest
from django.test import Client

from tests.admin_client import errors
from tests.factories import PASSWORD
from tests.scoped import script_of
from tests.users.logins import is_alive, log_in, try_to_log_in
from users.mail_templates import MailTemplate
from users.models import ScopedToken

pytestmark = pytest.mark.once

NEW_PASSWORD = "nine-yellow-trams"


def test_an_own_new_password_ends_log_ins_and_leaves_the_administrator_inside(admin_client, ada):
    token = log_in(ada)["token"]
    admin_client.change(ada, password1=NEW_PASSWORD, password2=NEW_PASSWORD)
    assert admin_client.client.get("/admin/").status_code == 200
    assert not is_alive(token)
    assert try_to_log_in(ada.email).status_code == 401
    assert try_to_log_in(ada.email, NEW_PASSWORD).status_code == 200


def test_ones_own_new_password_is_told_by_mail_and_ends_all_other_log_ins(admin_client, ada):
    token, script = log_in(ada)["token"], script_of(ada, "trips:read")
    body = {"old_password": PASSWORD, "new_password1": NEW_PASSWORD, "new_password2": NEW_PASSWORD}
    page = admin_client.client.post("/admin/password_change/", body, follow=True)
    assert page.redirect_chain == [("/admin/password_change/done/", 302)]
    assert set(ada.mails.values_list("letter", "address")) == {
        (MailTemplate.PASSWORD_CHANGED, "ada@example.com")
    }
    assert not is_alive(token)
    assert not ScopedToken.objects.filter(pk=script.pk).exists()
    assert admin_client.client.get("/admin/").status_code == 200
    assert try_to_log_in(ada.email, NEW_PASSWORD).status_code == 200


def test_the_page_for_ones_own_password_is_one_of_the_admin_site(admin_client):
    page = admin_client.client.get("/admin/password_change/")
    assert page.status_code == 200
    assert page.context["site_header"] == "Trip Companion"
    assert Client().get("/admin/password_change/").status_code == 302


@pytest.mark.parametrize(
    ("password", "again", "field"),
    [
        ("short", "short", "password1"),
        (NEW_PASSWORD, "nine-yellow-trains", "password2"),
        (NEW_PASSWORD, "", "password2"),
        ("", NEW_PASSWORD, "password2"),
    ],
)
def test_a_new_password_follows_the_rules_of_the_api(admin_client, olga, password, again, field):
    assert list(errors(admin_client.change(olga, password1=password, password2=again))) == [field]
    assert try_to_log_in(olga.email, PASSWORD).status_code == 200


def test_nobody_can_search_for_the_hash_of_a_password(admin_client, olga):
    page = admin_client.client.get("/admin/users/user/?password__startswith=argon2")
    assert page.status_code == 400


@pytest.mark.parametrize(("length", "status"), [(128, 302), (129, 200)])
def test_ones_own_password_may_be_as_long_as_a_log_in_reads(admin_client, length, status):
    new = "x" * length
    body = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert admin_client.client.post("/admin/password_change/", body).status_code == status
    assert try_to_log_in("ada@example.com", new).status_code == (200 if status == 302 else 400)
