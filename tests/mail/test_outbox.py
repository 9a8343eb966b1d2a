"""The outbox against a real mail server: nothing is lost, nothing is sent twice."""

import logging
import secrets
import signal
import subprocess
import sys
import time
from datetime import timedelta
from io import StringIO

import httpx
import pytest
from django.core.mail.backends.smtp import EmailBackend
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from tests.factories import PASSWORD
from tests.mailserver import mail_server
from tests.server import ROOT, free_port
from tripcompanion.database.turns import BATCH, Turns
from tripcompanion.mail.sending import GIVE_UP_AFTER
from users.mail_templates import MailTemplate
from users.models import EmailToken, Mail


@pytest.fixture
def smtp(settings):
    """`smtp(port)` makes mails go to that port."""

    def use(port):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_URL = {"EMAIL_PORT": port}
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
        settings.EMAIL_TIMEOUT = 5

    return use


@pytest.fixture
def post(smtp):
    """A mail server that is up."""
    with mail_server() as server:
        smtp(server.server_address[1])
        yield server


def send():
    """What `send_mail_queue` says; raises `CommandError` if something was not sent."""
    said = StringIO()
    call_command("send_mail_queue", stdout=said)
    return said.getvalue().strip()


def make_due():
    """Let all pauses pass."""
    Mail.objects.update(due_at=timezone.now())


def notice(user):
    return Mail.objects.create(user=user, letter=MailTemplate.PASSWORD_CHANGED, address=user.email)


def test_a_mail_is_delivered_as_it_is_meant_and_forgotten(post, olga, settings):
    notice(olga)
    assert send() == "1 mails sent, 0 waiting, 0 given up."
    [message] = post.received
    assert message["To"] == "olga@example.com"
    assert message["From"] == settings.DEFAULT_FROM_EMAIL
    assert message["Subject"] == "Your password was changed"
    assert message["Auto-Submitted"] == "auto-generated"
    assert "reset your password at once" in message.get_content().replace("\n", " ")
    assert not Mail.objects.exists()


def test_a_mail_speaks_the_language_of_its_cause(post, olga):
    Mail.objects.create(
        user=olga, letter=MailTemplate.PASSWORD_CHANGED, address=olga.email, language="es"
    )
    send()
    [message] = post.received
    assert message["Subject"] == "Tu contraseña ha cambiado"
    assert message.get_content().startswith("Hola:")


def test_a_server_that_is_down_loses_nothing_and_delivers_once_when_it_is_up_again(smtp, olga, ed):
    port = free_port()
    smtp(port)
    notice(olga)
    notice(ed)
    with pytest.raises(CommandError, match="^0 mails sent, 2 waiting, 0 given up"):
        send()
    assert Mail.objects.get(attempts=1).error == "ConnectionRefusedError"
    # One mail was enough to see that the server is down.
    assert Mail.objects.filter(attempts=0).count() == 1
    with mail_server(port) as post:
        send()
        assert len(post.received) == 1
        make_due()
        send()
        make_due()
        send()
        assert sorted(m["To"] for m in post.received) == ["ed@example.com", "olga@example.com"]
    assert not Mail.objects.exists()


def test_the_pauses_grow_and_are_kept(smtp, olga):
    smtp(free_port())
    mail = notice(olga)
    pauses = []
    for _attempt in range(8):
        started = timezone.now()
        with pytest.raises(CommandError):
            send()
        mail.refresh_from_db()
        pauses.append(round((mail.due_at - started) / timedelta(minutes=1)))
        assert send() == "0 mails sent, 1 waiting, 0 given up."
        make_due()
    assert pauses == [2, 4, 8, 16, 32, 60, 60, 60]
    assert mail.attempts == 8


def test_an_address_that_is_refused_for_good_is_given_up_at_once_and_kept_to_be_seen(
    post, olga, ed, caplog
):
    post.refusals["olga@example.com"] = "550 5.1.1 <olga@example.com>: nobody is called so"
    mail = notice(olga)
    notice(ed)
    with pytest.raises(CommandError, match="^1 mails sent, 0 waiting, 1 given up"):
        send()
    assert [message["To"] for message in post.received] == ["ed@example.com"]
    mail.refresh_from_db()
    assert mail.given_up_at is not None
    assert mail.error == "SMTPRecipientsRefused 550"
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
    assert "olga@example.com" not in caplog.text
    make_due()
    assert send() == "0 mails sent, 0 waiting, 0 given up."


def test_an_address_that_is_refused_for_now_is_tried_again(post, olga):
    post.refusals["olga@example.com"] = "451 4.3.0 later"
    notice(olga)
    with pytest.raises(CommandError, match="1 waiting"):
        send()
    assert Mail.objects.get().error == "SMTPRecipientsRefused 451"
    post.refusals.clear()
    make_due()
    assert send() == "1 mails sent, 0 waiting, 0 given up."


def test_a_refusal_that_ends_the_connection_delays_no_other_mail(post, olga, ed):
    post.refusals["olga@example.com"] = "421 4.7.0 too many errors"
    notice(olga)
    notice(ed)
    with pytest.raises(CommandError, match="^1 mails sent, 1 waiting, 0 given up"):
        send()
    assert [message["To"] for message in post.received] == ["ed@example.com"]


@pytest.mark.parametrize("address", ["ol\nga@example.com", "@example.com", "a b <c@d>, e"])
def test_an_address_that_breaks_a_mail_does_not_break_the_queue(post, olga, ed, address):
    mail = Mail.objects.create(user=olga, letter=MailTemplate.EMAIL_CHANGED, address=address)
    notice(ed)
    with pytest.raises(CommandError, match="^1 mails sent, 0 waiting, 1 given up"):
        send()
    assert [message["To"] for message in post.received] == ["ed@example.com"]
    mail.refresh_from_db()
    assert mail.error == "not an address that mail can be sent to"


class Breaking(EmailBackend):
    """Fails with Ed's mails in a way that nobody expects."""

    def send_messages(self, messages):
        if messages[0].to == ["ed@example.com"]:
            raise RuntimeError
        return super().send_messages(messages)


def test_an_unexpected_error_with_one_mail_delays_no_other(post, olga, ed, settings):
    settings.EMAIL_BACKEND = f"{__name__}.Breaking"
    broken, _other = notice(ed), notice(olga)
    with pytest.raises(CommandError, match="^1 mails sent, 1 waiting, 0 given up"):
        send()
    assert [message["To"] for message in post.received] == ["olga@example.com"]
    broken.refresh_from_db()
    assert (broken.error, broken.attempts) == ("RuntimeError", 1)
    assert broken.due_at > timezone.now()


@pytest.mark.parametrize(
    "address", ["o'lga+trips@example.com", '"olga.."@example.com', "olga@münchen.example"]
)
def test_every_address_that_can_register_can_get_mail(post, olga, address):
    body = {"email": address, "password": PASSWORD}
    assert APIClient().post("/api/users/register", body).status_code == 201
    assert send() == "1 mails sent, 0 waiting, 0 given up."
    assert len(post.received) == 1


def test_a_mail_that_comes_too_late_is_given_up(post, olga):
    mail = notice(olga)
    Mail.objects.update(created_at=timezone.now() - GIVE_UP_AFTER - timedelta(minutes=1))
    with pytest.raises(CommandError, match="^0 mails sent, 0 waiting, 1 given up"):
        send()
    mail.refresh_from_db()
    assert mail.given_up_at is not None
    assert mail.error == "too old"
    assert not post.received


@pytest.mark.parametrize(
    "letter", [MailTemplate.PASSWORD_CHANGED, MailTemplate.VERIFY, MailTemplate.RESET]
)
def test_who_is_barred_or_gone_meanwhile_gets_no_mail(post, olga, letter):
    user = None if letter == MailTemplate.RESET else olga
    Mail.objects.create(user=user, letter=letter, address=olga.email)
    olga.deactivate(by=None)
    assert send() == "0 mails sent, 0 waiting, 0 given up."
    assert not post.received
    assert not EmailToken.objects.exists()


def test_without_a_server_mails_stay(olga, settings):
    settings.EMAIL_URL = {}
    notice(olga)
    with pytest.raises(CommandError, match="EMAIL_URL is not set"):
        send()
    assert Mail.objects.waiting().count() == 1


def test_who_comes_second_gets_no_attempt(olga):
    mail = notice(olga)
    first, second = Mail.objects.get(), Mail.objects.get()
    assert first.claim()
    assert not second.claim()
    mail.refresh_from_db()
    assert mail.attempts == 1


def sender(server, post, *options):
    """A process that sends what is in the outbox of `server`."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "send_mail_queue", *options],
        cwd=ROOT,
        env=server.environment | {"EMAIL_URL": post.url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def register(server):
    """The address of a new account, which is asked to confirm it."""
    email = f"{secrets.token_hex(8)}@example.com"
    body = {"email": email, "password": PASSWORD}
    httpx.post(f"{server.url}/api/users/register", json=body, timeout=30).raise_for_status()
    return email


@pytest.mark.slow
def test_many_senders_at_once_deliver_each_mail_once(server):
    emails = [register(server) for _account in range(15)]
    with mail_server() as post:
        senders = [sender(server, post) for _process in range(4)]
        ends = [(process.communicate(timeout=60), process.returncode) for process in senders]
    assert [(said[1], status) for said, status in ends] == [("", 0)] * 4
    received = [message["To"] for message in post.received]
    assert sorted(to for to in received if to in emails) == sorted(emails)
    assert len(set(received)) == len(received)


def test_a_watcher_delivers_what_comes_and_ends_when_told(server):
    with mail_server() as post:
        watcher = sender(server, post, "--watch")
        try:
            email = register(server)
            deadline = time.monotonic() + 40
            while not any(message["To"] == email for message in post.received):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            watcher.send_signal(signal.SIGTERM)
            said = watcher.communicate(timeout=20)
    assert (watcher.returncode, said) == (0, ("", ""))


def test_no_log_names_who_gets_mail(smtp, olga, caplog):
    caplog.set_level(logging.DEBUG)
    smtp(free_port())
    notice(olga)
    with pytest.raises(CommandError):
        send()
    logged = [record for record in caplog.records if record.name.startswith("users")]
    assert [record.getMessage() for record in logged] == [
        f"PASSWORD_CHANGED {Mail.objects.get().pk} was not sent: ConnectionRefusedError"
    ]


@pytest.fixture
def of_olga(olga):
    """So many mails, which were due long ago."""
    long_ago = timezone.now() - timedelta(hours=1)
    told = {"user": olga, "letter": MailTemplate.PASSWORD_CHANGED, "address": olga.email}
    return Mail.objects.bulk_create(Mail(**told, due_at=long_ago) for _mail in range(2 * BATCH))


def test_many_mails_of_one_account_delay_no_other_by_more_than_one(post, olga, ed, of_olga):
    notice(ed)
    send()
    receivers = [message["To"] for message in post.received]
    assert (receivers.index(ed.email), len(receivers)) == (1, len(of_olga) + 1)


def test_whoever_comes_later_waits_for_one_batch_at_most(ed, of_olga):
    turns, taken = Turns("address"), []
    for _mail in range(2 * BATCH):
        if len(taken) == 3:
            notice(ed)
        mail = turns.next(Mail.objects.due())
        taken.append(mail.address)
        mail.delete()
    assert 3 <= taken.index(ed.email) <= 3 + BATCH
