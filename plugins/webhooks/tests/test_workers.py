"""Several processes that send messages to webhooks, some of which are killed."""

import json
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import closing

import httpx
import pytest

from plugins.webhooks.tests.receiver import receiving, status
from tests.locks import OtherProcess, answer_after
from tests.server import ROOT, running_server
from tests.splits.journey import Journey, sign_up

EXPENSES = 8
TRIPS = 2
KILLS = 2


@pytest.fixture(scope="module")
def open_server():
    """A server whose webhooks may lead to this machine."""
    with running_server(WEBHOOKS_ALLOW_PRIVATE="true") as server:
        yield server


@pytest.fixture
def owner(open_server):
    """Somebody who has signed up."""
    with httpx.Client(base_url=open_server.url, timeout=30) as http:
        yield sign_up(http)


def worker(server):
    return subprocess.Popen(
        [sys.executable, "manage.py", "deliver_webhooks", "--watch"],
        cwd=ROOT,
        env=server.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def stop(process):
    process.send_signal(signal.SIGTERM)
    _said, errors = process.communicate(timeout=30)
    return process.returncode, errors


def end_leases(server):
    """As if the time of all leases had passed."""
    with closing(OtherProcess(server)) as other:
        other.run("UPDATE splits_webhook SET claimed_until = created_at")


def arrived(receiver):
    """Number and id of the messages by path and trip, in the order in which they arrived."""
    messages = defaultdict(list)
    for request in receiver.received:
        body = json.loads(request.body)
        id_ = request.headers["webhook-id"]
        messages[request.path, body["tripId"]].append((body["number"], id_))
    return messages


def is_complete(receiver):
    found = arrived(receiver)
    return len(found) == 2 * TRIPS and all(
        len({number for number, _id in messages}) >= EXPENSES for messages in found.values()
    )


@pytest.mark.slow
def test_killed_workers_lose_nothing_and_change_no_order(open_server, owner):
    """T168: No message is lost or overtaken, whichever workers are killed."""

    def slowly(handler):
        time.sleep(0.03)
        status(204)(handler)

    with receiving(None) as receiver:
        receiver.answer = slowly
        url = f"http://127.0.0.1:{receiver.port}"
        trips = [Journey.start(owner) for _number in range(TRIPS)]
        for path in ("one", "two"):
            owner.done("POST", "/webhooks", {"url": f"{url}/{path}", "events": ["expense.*"]})
        workers = [worker(open_server) for _number in range(2)]
        try:
            for number in range(EXPENSES):
                for trip in trips:
                    trip.spend(60, owner)
                if number % (EXPENSES // KILLS) == 1:
                    seen = len(receiver.received)
                    deadline = time.monotonic() + 20
                    while len(receiver.received) == seen and time.monotonic() < deadline:
                        time.sleep(0.01)
                    killed = workers.pop(0)
                    killed.kill()
                    killed.communicate()
                    workers.append(worker(open_server))
                    end_leases(open_server)
            deadline = time.monotonic() + 40
            while not is_complete(receiver):
                assert time.monotonic() < deadline, arrived(receiver)
                time.sleep(0.1)
        finally:
            ends = [stop(process) for process in workers]
        assert ends == [(0, b"")] * 2
        for messages in arrived(receiver).values():
            numbers = [number for number, _id in messages]
            # What is sent again is the message before.
            assert numbers == sorted(numbers)
            assert len(set(numbers)) == EXPENSES
            assert len(set(messages)) == EXPENSES


@pytest.mark.slow
def test_workers_at_once_send_each_message_once(open_server, owner):
    with receiving(None) as receiver:
        trip = Journey.start(owner)
        for path in range(4):
            url = f"http://127.0.0.1:{receiver.port}/{path}"
            owner.done("POST", "/webhooks", {"url": url, "tripId": trip.id})
        for _number in range(5):
            trip.spend(60, owner)
        processes = [
            subprocess.Popen(
                [sys.executable, "manage.py", "deliver_webhooks"],
                cwd=ROOT, env=open_server.environment, stderr=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            for _number in range(4)
        ]  # fmt: skip
        ends = [(process.communicate(timeout=60)[1], process.returncode) for process in processes]
        assert ends == [(b"", 0)] * 4
        assert len(receiver.received) == 4 * 5
        for messages in arrived(receiver).values():
            assert [number for number, _id in messages] == sorted(
                {number for number, _id in messages}
            )


def test_a_webhook_is_deleted_beside_its_worker(open_server, owner):
    """A worker locks the webhook before it writes a delivery, and so does whoever deletes it."""
    hook = owner.done("POST", "/webhooks", {"url": "http://127.0.0.1:9/"})["id"]
    path = f"/webhooks/{hook}"
    owner.done("POST", f"{path}/test")
    noted = ("UPDATE splits_webhookdelivery SET error = '' WHERE webhook_id = %s", hook)
    gone, _is_unchanged = answer_after(
        open_server, "splits_webhook", hook, lambda: owner.call("DELETE", path), noted
    )
    assert gone.status_code == 204, gone.text
    assert owner.call("GET", path).status_code == 404
