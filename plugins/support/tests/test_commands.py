"""`manage.py createsuperuser --noinput` and `changepassword`, by the rules of the API."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.factories import PASSWORD
from tests.users.logins import is_alive, log_in, try_to_log_in
from users.mail_templates import MailTemplate
from users.models import Role, ScopedToken, User

pytestmark = [pytest.mark.either, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_EMAIL", "root@example.com")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    monkeypatch.setenv("DJANGO_SUPERUSER_NAME", "Ruth Root")


def create_superuser():
    call_command("createsuperuser", "--noinput", stdout=StringIO())


def test_the_administrator_has_the_given_name_and_logs_in_as_one():
    create_superuser()
    user = User.objects.get()
    assert (user.name, user.email, user.role) == ("Ruth Root", "root@example.com", Role.ADMIN)
    assert user.is_staff
    assert log_in(user)["user"]["role"] == "ADMIN"


@pytest.mark.parametrize("name", [None, ""])
def test_the_name_may_be_left_out(monkeypatch, name):
    monkeypatch.delenv("DJANGO_SUPERUSER_NAME")
    if name is not None:
        monkeypatch.setenv("DJANGO_SUPERUSER_NAME", name)
    create_superuser()
    assert User.objects.get().name == "root"


@pytest.mark.parametrize("email", ["root@example.com", "ROOT@Example.com"])
def test_a_taken_address_is_one_clear_line(monkeypatch, email):
    create_superuser()
    monkeypatch.setenv("DJANGO_SUPERUSER_EMAIL", email)
    with pytest.raises(CommandError, match="taken"):
        create_superuser()
    assert User.objects.count() == 1


@pytest.mark.parametrize("email", ["root", "r\u212a@example.com", ""])
def test_what_is_no_address_is_one_clear_line(monkeypatch, email):
    monkeypatch.setenv("DJANGO_SUPERUSER_EMAIL", email)
    with pytest.raises(CommandError):
        create_superuser()
    assert not User.objects.exists()


def test_a_password_that_nobody_could_log_in_with_is_one_clear_line(monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "x" * 129)
    with pytest.raises(CommandError, match="at most 128 characters"):
        create_superuser()
    assert not User.objects.exists()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "x" * 128)
    create_superuser()
    assert log_in(User.objects.get(), "x" * 128)


@pytest.mark.parametrize("password", ["", "short", "password"])
def test_a_password_that_nobody_could_register_with_is_refused(monkeypatch, password):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", password)
    with pytest.raises(CommandError, match="DJANGO_SUPERUSER_PASSWORD"):
        create_superuser()
    assert not User.objects.exists()


NEW = "five-yellow-umbrellas"


def change_password(monkeypatch, email, first, second=""):
    typed = iter([first, second or first])
    monkeypatch.setattr("getpass.getpass", lambda *_prompt: next(typed))
    call_command("changepassword", email, stdout=StringIO(), stderr=StringIO())


def test_changepassword_ends_all_log_ins_and_tells_the_owner(monkeypatch, olga):
    token = log_in(olga)["token"]
    ScopedToken.issue(olga, name="Import", scopes=["trips:read"])
    change_password(monkeypatch, "OLGA@example.com", NEW)
    assert not is_alive(token)
    assert not ScopedToken.objects.exists()
    assert try_to_log_in(olga.email, NEW).status_code == 200
    assert olga.mails.get().letter == MailTemplate.PASSWORD_CHANGED


@pytest.mark.parametrize(
    ("email", "first", "second"),
    [
        ("nobody@example.com", NEW, NEW),
        ("olga@example.com", NEW, NEW + "!"),
        ("olga@example.com", "password123", "password123"),
        ("olga@example.com", "short", "short"),
    ],
)
def test_changepassword_refuses_what_the_api_refuses(monkeypatch, olga, email, first, second):
    with pytest.raises(CommandError):
        change_password(monkeypatch, email, first, second)
    assert User.objects.get(pk=olga.pk).password == olga.password
