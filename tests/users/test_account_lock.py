"""An account is changed under its lock only, on what is stored at that moment."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import make_password
from django.db import transaction
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied

from tests.factories import PASSWORD, overwrite
from tests.locks import OtherProcess
from tests.mailserver import mail_server
from trips.deletion import delete_account
from users.models import Role, Session, User

NEW = "five-yellow-umbrellas"


def test_an_account_that_was_read_without_its_lock_cannot_be_saved(olga):
    olga.name = "Olga Other"
    for fields in (None, ["name"]):
        with pytest.raises(transaction.TransactionManagementError):
            olga.save(update_fields=fields)
    with olga.locked(by=None) as account:
        pass
    with pytest.raises(transaction.TransactionManagementError):
        account.save()
    olga.refresh_from_db()
    assert olga.name == "Olga Owner"


def test_a_command_writes_what_is_stored_and_not_what_was_read_before(olga):
    stale = User.objects.get(pk=olga.pk)
    olga.change(by=None, name="Olga Other")
    stale.change(by=None, currency="JPY")
    assert (stale.name, stale.currency) == ("Olga Other", "JPY")
    olga.refresh_from_db()
    assert (olga.name, olga.currency) == ("Olga Other", "JPY")


def test_a_refused_command_leaves_the_instance_as_it_was(olga, ed):
    with pytest.raises(Exception, match="already in use"):
        olga.change(by=None, email="ed@example.com")
    assert (olga.email, olga.email_key) == ("olga@example.com", "olga@example.com")


def test_a_command_asks_again_who_gives_it(olga, ada):
    others, stale = User.objects.get(pk=ada.pk), User.objects.get(pk=olga.pk)
    overwrite(ada, role=Role.USER)
    with pytest.raises(PermissionDenied):
        olga.change(by=others, name="Olga Other")
    with pytest.raises(PermissionDenied), ada.locked(by=others, as_admin=True):
        pass
    ada.deactivate(by=None)
    with pytest.raises(NotAuthenticated):
        olga.change(by=others, name="Olga Other")
    delete_account(olga, by=None)
    for change in (lambda: stale.change(by=None, name="Olga"), lambda: stale.verify_email()):
        with pytest.raises(NotFound):
            change()


def test_a_session_that_a_new_password_kept_may_go_on_and_others_may_not(olga):
    kept, ended = Session.start(olga), Session.start(olga)
    callers = [User.objects.get(pk=olga.pk) for _session in (kept, ended)]
    for caller, session in zip(callers, (kept, ended), strict=True):
        caller.by_session = session.pk
    olga.change(by=None, password=NEW, keep=kept.pk)
    olga.change(by=callers[0], name="Olga Other")
    with pytest.raises(NotAuthenticated):
        olga.change(by=callers[1], name="Olga Third")


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_hash_is_renewed_unless_the_password_was_changed_meanwhile(olga, settings, is_changed):
    """Whoever logs in with a hash of an outdated cost has it replaced."""
    settings.PASSWORD_HASHERS = [
        *settings.PASSWORD_HASHERS,
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    ]
    overwrite(olga, password=make_password(PASSWORD, hasher="pbkdf2_sha256"))
    if is_changed:
        new = make_password(NEW)
        User.objects.filter(pk=olga.pk).update(password=new)
    assert olga.check_password(PASSWORD)
    stored = User.objects.get(pk=olga.pk).password
    assert stored == new if is_changed else stored.startswith("argon2")


def test_nothing_says_when_somebody_last_logged_in_whose_account_is_gone(olga):
    overwrite(olga, last_login=olga.created_at)
    delete_account(olga, by=None)
    assert User.objects.get(pk=olga.pk).last_login is None


# -- Mail -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["RESET", "VERIFY", "PASSWORD_CHANGED"])
def test_no_mail_with_a_link_is_made_for_an_account_that_is_emptied_meanwhile(server, letter):
    """The sender has found the account, and waits for its row."""
    email = f"{letter.lower()}@example.com"
    made = (
        "from users.models import Mail, User\n"
        f"user = User.register({email!r}, {PASSWORD!r})\n"
        "Mail.objects.all().delete()\n"
        f"owner = None if {letter!r} == 'RESET' else user\n"
        f"Mail.objects.create(user=owner, letter={letter!r}, address={email!r})\n"
        "print(user.pk)"
    )
    user_id = int(server.manage("shell", "--no-imports", "-c", made).stdout)
    other = OtherProcess(server)
    try:
        with mail_server() as post, ThreadPoolExecutor(1) as pool:
            with other.transaction():
                other.run(
                    "UPDATE users_user SET name = 'Deleted user', email = NULL, email_key = NULL,"
                    " is_active = false, deleted_at = created_at WHERE id = %s",
                    user_id,
                )
                sender = pool.submit(server.manage, "send_mail_queue", EMAIL_URL=post.url)
                other.wait_for(1, patience_seconds=30, sqlite_seconds=4)
            sender.result()
            assert email not in [message["To"] for message in post.received]
        assert other.run("SELECT count(*) FROM users_emailtoken WHERE user_id = %s", user_id) == [
            (0,)
        ]
        assert other.run("SELECT count(*) FROM users_mail WHERE address = %s", email) == [(0,)]
    finally:
        other.close()
