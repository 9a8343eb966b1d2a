"""Accounts in the admin site: made, changed, deactivated and deleted, by the rules of the API."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from tests.admin_client import AdminClient, errors, text, told
from tests.factories import UserFactory, join, spend
from tests.users.logins import is_alive, log_in, refresh, try_to_log_in
from trips.roles import TripRole
from users.mail_templates import MailTemplate
from users.models import Mail, Role, User

pytestmark = pytest.mark.once

LAST_ADMIN = "The last active administrator cannot be demoted or deactivated."
NEW_PASSWORD = "nine-yellow-trams"


def make(admin_client, **values):
    given = {
        "email": "Bert@Example.com",
        "name": "Bert",
        "password1": NEW_PASSWORD,
        "password2": NEW_PASSWORD,
        **values,
    }
    return admin_client.add(User, **given)


def test_a_new_account_can_log_in(admin_client):
    make(admin_client, role=Role.ADMIN, currency="JPY")
    bert = User.objects.get(name="Bert")
    assert (bert.email, bert.role, bert.currency) == ("Bert@Example.com", "ADMIN", "JPY")
    assert try_to_log_in("bert@example.com", NEW_PASSWORD).status_code == 200


def test_a_new_account_without_a_name_is_named_after_the_address(admin_client):
    make(admin_client, name=None)
    assert User.objects.get(email="Bert@Example.com").name == "Bert"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"email": "OLGA@EXAMPLE.COM"}, "email"),
        ({"email": "bert"}, "email"),
        ({"email": "ber\N{KELVIN SIGN}@example.com"}, "email"),
        ({"name": "B"}, "name"),
        ({"password1": "short", "password2": "short"}, "password1"),
        ({"password1": "password123", "password2": "password123"}, "password1"),
        ({"password1": "x" * 129, "password2": "x" * 129}, "password1"),
        ({"password2": "nine-yellow-trains"}, "password2"),
        ({"role": "OWNER"}, "role"),
    ],
)
def test_what_the_api_would_refuse_is_an_error_of_the_form(admin_client, olga, values, field):
    before = User.objects.count()
    assert list(errors(make(admin_client, **values))) == [field]
    assert User.objects.count() == before


def test_a_changed_address_is_the_one_to_log_in_with(admin_client, olga):
    admin_client.change(olga, email="Olga@New.example.com")
    assert try_to_log_in("olga@new.example.com").status_code == 200
    assert try_to_log_in("olga@example.com").status_code == 401
    UserFactory(email="olga@example.com")


@pytest.mark.parametrize("taken", ["ed@example.com", "ED@example.com"])
def test_a_taken_address_is_an_error_of_the_form(admin_client, olga, ed, taken):
    page = admin_client.change(olga, email=taken)
    assert errors(page) == {"email": ["This e-mail address is already in use."]}
    olga.refresh_from_db()
    assert (olga.email, olga.email_key) == ("olga@example.com", "olga@example.com")


@pytest.mark.parametrize("picture", ["javascript:alert(1)", "//example.com/x.png"])
def test_a_picture_is_an_address_on_the_web_or_a_path(admin_client, olga, picture):
    assert list(errors(admin_client.change(olga, profile_picture=picture))) == ["profile_picture"]
    admin_client.change(olga, profile_picture="/pictures/olga.webp")
    olga.refresh_from_db()
    assert olga.profile_picture == "/pictures/olga.webp"
    admin_client.change(olga, profile_picture=None)
    olga.refresh_from_db()
    assert olga.profile_picture is None


def test_saving_a_page_as_it_is_ends_no_log_in(admin_client, olga):
    token = log_in(olga)["token"]
    before = User.objects.filter(pk=olga.pk).values().get()
    admin_client.change(olga)
    assert User.objects.filter(pk=olga.pk).values().get() == before
    assert is_alive(token)


@pytest.mark.parametrize("way", ["form", "action"])
def test_barring_an_account_ends_its_log_ins_for_good(admin_client, olga, way):
    tokens = log_in(olga)
    if way == "form":
        admin_client.change(olga, is_active=False)
    else:
        admin_client.act("deactivate", olga)
    assert not is_alive(tokens["token"])
    assert try_to_log_in(olga.email).status_code == 401
    if way == "form":
        admin_client.change(olga, is_active="on")
    else:
        admin_client.act("activate", olga)
    assert not is_alive(tokens["token"])
    assert refresh(tokens["refreshToken"]).status_code == 401
    assert try_to_log_in(olga.email).status_code == 200


def test_a_barred_administrator_has_to_log_in_again(admin_client):
    other = AdminClient(UserFactory(role=Role.ADMIN, email="second@example.com"))
    second = User.objects.get(email="second@example.com")
    admin_client.act("deactivate", second)
    assert other.client.get("/admin/").status_code == 302
    admin_client.act("activate", second)
    assert other.client.get("/admin/").status_code == 302


def test_an_administrator_is_made_and_unmade(admin_client, olga):
    admin_client.change(olga, role="ADMIN")
    client = Client()
    client.force_login(olga)
    assert client.get("/admin/").status_code == 200
    admin_client.change(olga, role="USER")
    assert client.get("/admin/").status_code == 302


@pytest.mark.parametrize("values", [{"role": "USER"}, {"is_active": False}])
def test_the_last_administrator_stays(admin_client, ada, values):
    UserFactory(role=Role.ADMIN, is_active=False)
    assert errors(admin_client.change(ada, **values)) == {"__all__": [LAST_ADMIN]}
    ada.refresh_from_db()
    assert ada.is_admin


def test_of_two_administrators_one_may_go(admin_client, ada, olga):
    admin_client.change(olga, role="ADMIN")
    admin_client.change(ada, role="USER")
    ada.refresh_from_db()
    assert not ada.is_admin


def test_an_action_that_would_bar_every_administrator_bars_nobody(admin_client, ada, olga, ed):
    olga.change(by=None, role=Role.ADMIN)
    log = LogEntry.objects.count()
    assert told(admin_client.act("deactivate", ed, olga, ada)) == [LAST_ADMIN]
    assert User.objects.filter(is_active=True).count() == 3
    assert LogEntry.objects.count() == log


def notices(user):
    """What is told to `user`, and at which address."""
    return set(user.mails.values_list("letter", "address"))


def test_a_password_and_an_address_changed_together_are_told_at_the_old_address(admin_client, olga):
    admin_client.change(
        olga, email="olga@new.example.com", password1=NEW_PASSWORD, password2=NEW_PASSWORD
    )
    assert notices(olga) == {
        (MailTemplate.PASSWORD_CHANGED, "olga@example.com"),
        (MailTemplate.EMAIL_CHANGED, "olga@example.com"),
        (MailTemplate.VERIFY, "olga@new.example.com"),
    }


def test_an_address_that_was_confirmed_is_not_when_another_takes_its_place(admin_client, olga):
    olga.verify_email()
    admin_client.change(olga, email="olga@new.example.com")
    olga.refresh_from_db()
    assert olga.email_verified_at is None


def test_a_deleted_account_is_empty_and_the_books_stay(admin_client, trip, olga, ed):
    spend(trip, 1000, paid_by=olga, among=[olga, ed])
    confirmation = admin_client.client.get(f"/admin/users/user/{ed.pk}/delete/").content.decode()
    assert "Ed Editor &lt;ed@example.com&gt;: name, e-mail, password" in confirmation
    admin_client.delete(ed)
    ed.refresh_from_db()
    assert (ed.name, ed.email, ed.is_active) == ("Deleted user", None, False)
    assert trip.members.get(user=ed).balance_minor == -500
    assert not trip.members.present().filter(user=ed).exists()


def test_several_accounts_are_deleted_at_once_after_a_question(admin_client, olga, ed):
    assert "Are you sure" in admin_client.act("delete_selected", olga, ed).content.decode()
    assert User.objects.filter(deleted_at=None, pk__in=[olga.pk, ed.pk]).count() == 2
    admin_client.act("delete_selected", olga, ed, post="yes")
    assert not User.objects.filter(deleted_at=None, pk__in=[olga.pk, ed.pk]).exists()


def test_the_last_owner_of_a_trip_with_others_cannot_be_deleted(admin_client, trip, olga, sam):
    refusal = "A trip needs an owner, and this member is the only one."
    assert told(admin_client.delete(olga)) == [refusal]
    assert told(admin_client.act("delete_selected", sam, olga, post="yes")) == [refusal]
    assert User.objects.filter(deleted_at=None, pk__in=[olga.pk, sam.pk]).count() == 2
    assert not LogEntry.objects.exists()


def test_the_last_administrator_cannot_be_deleted(admin_client, ada):
    assert told(admin_client.delete(ada)) == ["The last administrator cannot be deleted."]
    ada.refresh_from_db()
    assert ada.deleted_at is None


def test_a_deleted_account_stays_as_it_is(admin_client, olga, trip):
    join(trip, UserFactory(), TripRole.OWNER)
    admin_client.delete(olga)
    assert admin_client.page(olga).status_code == 200
    for page in ("change", "delete"):
        assert (
            admin_client.client.post(admin_client.url(User, page, olga.pk), {}).status_code == 403
        )
    admin_client.act("activate", olga)
    admin_client.act("delete_selected", olga, post="yes")
    olga.refresh_from_db()
    assert not olga.is_active


@pytest.mark.parametrize("way", ["form", "action"])
def test_whoever_bars_the_last_owner_of_a_trip_is_told(admin_client, trip, olga, ed, way):
    assert not any("owner" in text for text in told(admin_client.act("deactivate", ed)))
    barred = (
        admin_client.change(olga, is_active=False)
        if way == "form"
        else admin_client.act("deactivate", olga)
    )
    text = f"These trips have no owner any more who can log in: {trip.pk}."
    assert text in barred.content.decode()


def test_the_log_of_changes_does_not_say_who_a_deleted_account_was(admin_client, olga):
    make(admin_client)
    bert = User.objects.get(name="Bert")
    admin_client.change(bert, name="Bertram")
    admin_client.act("deactivate", bert)
    admin_client.delete(bert)
    admin_client.act("delete_selected", olga, post="yes")
    assert LogEntry.objects.count() == 5
    names = set(LogEntry.objects.values_list("object_repr", flat=True))
    assert names == {f"#{bert.pk}", f"#{olga.pk}"}


def test_accounts_are_found_by_name_address_and_state(admin_client, olga, ed, vera, ada):
    ed.deactivate(by=None)
    admin_client.delete(vera)

    def found(query):
        return {user.pk for user in admin_client.list(User, query).context["cl"].result_list}

    assert found("q=OLGA@") == {olga.pk}
    assert found("q=Editor") == {ed.pk}
    assert found("state=active") == {olga.pk, ada.pk}
    assert found("state=deactivated") == {ed.pk}
    assert found("state=deleted") == {vera.pk}


def test_whether_an_address_is_confirmed_is_shown(admin_client, olga):
    shown = admin_client.page(olga).context["adminform"]
    olga.verify_email()
    assert olga.email_verified_at
    assert "email_verified_at" in shown.readonly_fields
    assert str(olga.email_verified_at.year) in text(admin_client.page(olga))


def test_the_outbox_is_filtered_by_state_and_shows_addresses(admin_client, olga):
    waiting, given_up = (
        Mail.objects.create(
            user=olga, letter=MailTemplate.VERIFY, address=olga.email, given_up_at=at
        )
        for at in (None, timezone.now())
    )
    for state, mails in {"waiting": [waiting], "given_up": [given_up]}.items():
        assert list(admin_client.list(Mail, f"state={state}").context["cl"].result_list) == mails
    assert "olga@example.com" in text(admin_client.page(waiting))
