"""Several processes that send notices by mail: nothing is told twice, and nothing is lost."""

import re
from collections import Counter
from contextlib import closing

import httpx
import pytest

from tests.locks import OtherProcess
from tests.mail.test_outbox import sender
from tests.mailserver import mail_server
from tests.server import running_server
from tests.splits.journey import Journey, sign_up

READERS = 6
EXPENSES = 5
SENDERS = 4


@pytest.fixture
def notified():
    """A server with notices of each expense for each reader, and what they are about."""
    with (
        running_server() as server,
        httpx.Client(base_url=server.url, timeout=60) as http,
        closing(OtherProcess(server)) as other,
    ):
        owner, *readers = [sign_up(http) for _number in range(1 + READERS)]
        # Confirming an address takes a mail, which is not what this is about.
        other.run("DELETE FROM users_mail")
        other.run("UPDATE users_user SET email_verified_at = created_at, notice_mode = 'each'")
        expenses = spend(owner, readers)
        addresses = [reader.done("GET", "/users/me")["email"] for reader in readers]
        yield server, {(to, expense) for to in addresses for expense in expenses}


def spend(owner, readers):
    """The ids of expenses that name all of them."""
    journey = Journey.start(owner)
    for reader in readers:
        journey.admit(reader)
    return [journey.spend(60, owner, *readers)["id"] for _number in range(EXPENSES)]


def told(messages):
    """How often each account was told of each expense."""
    return Counter(
        (message["To"], int(expense))
        for message in messages
        for expense in re.findall(r"/expenses/([0-9]+)", message.get_content())
    )


def send_by_many(server, post):
    senders = [sender(server, post) for _number in range(SENDERS)]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in senders]
    assert ends == [("", 0)] * SENDERS


def send_all(server, post):
    """Send until nothing waits, as if all pauses had passed each time.

    A notice that one sender claims while another writes to the same account waits for the next
    mail, so each time at least one sender less has something to do.
    """
    with closing(OtherProcess(server)) as other:
        for _time in range(SENDERS):
            other.run("UPDATE users_user SET noticed_at = NULL")
            other.run("UPDATE users_mail SET due_at = created_at")
            send_by_many(server, post)
            if other.run("SELECT count(*) FROM users_mail") == [(0,)]:
                return
    raise AssertionError("Some notices are never sent.")


@pytest.mark.slow
def test_senders_at_once_tell_everybody_once(notified):
    server, wanted = notified
    with mail_server() as post:
        send_all(server, post)
    assert told(post.received) == dict.fromkeys(wanted, 1)


@pytest.mark.slow
def test_a_sender_that_is_killed_before_the_mail_is_taken_loses_nothing(notified):
    server, wanted = notified
    with mail_server() as post:
        post.stalls = True
        killed = sender(server, post)
        assert post.is_stalled.wait(30)
        killed.kill()
        killed.communicate()
        post.stalls = False
        # Claimed, and not due yet.
        send_by_many(server, post)
        assert told(post.received).keys() < wanted
        send_all(server, post)
    assert told(post.received) == dict.fromkeys(wanted, 1)
