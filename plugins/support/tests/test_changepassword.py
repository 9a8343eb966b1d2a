"""`manage.py changepassword` changes a password as the account's owner does."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.users.logins import is_alive, log_in, try_to_log_in
from users.mail_templates import MailTemplate
from users.models import ScopedToken, User

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
