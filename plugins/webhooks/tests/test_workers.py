"""Several processes that send messages to webhooks, some of which are killed."""

import json
import secrets
import signal
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import closing

import httpx
import pytest

from plugins.webhooks.tests.receiver import receiving, status
from tests.factories import PASSWORD
from tests.locks import OtherProcess, answer_after
from tests.server import ROOT, running_server
from tests.trips.bodies import lisbon

EXPENSES = 8
TRIPS = 2
KILLS = 2


@pytest.fixture(scope="module")
def open_server():
    """A server whose webhooks may lead to this machine."""
    with running_server(WEBHOOKS_ALLOW_PRIVATE="true") as server:
        yield server


@pytest.fixture
def client(open_server):
    """A client with a new account."""
    account = {"email": f"{secrets.token_hex(8)}@example.com", "password": PASSWORD}
    with httpx.Client(base_url=f"{open_server.url}/api", timeout=30) as client:
        login = client.post("/users/register", json=account).json()
        client.headers["Authorization"] = f"Bearer {login['token']}"
        client.user_id = login["user"]["id"]
        yield client


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


def made(client, path, body):
    response = client.post(path, json=body)
    assert response.status_code == 201, response.text
    return response.json()


def record(client, trip_id):
    body = {
        "description": "Dinner", "amount": 60, "expenseDate": "2026-05-14",
        "splitType": "EQUAL", "participantUserIds": [client.user_id],
    }  # fmt: skip
    made(client, f"/trips/{trip_id}/expenses", body)


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
def test_killed_workers_lose_nothing_and_change_no_order(open_server, client):
    """T168: No message is lost or overtaken, whichever workers are killed."""

    def slowly(handler):
        time.sleep(0.03)
        status(204)(handler)

    with receiving(None) as receiver:
        receiver.answer = slowly
        url = f"http://127.0.0.1:{receiver.port}"
        trips = [made(client, "/trips", lisbon())["id"] for _number in range(TRIPS)]
        for path in ("one", "two"):
            made(client, "/webhooks", {"url": f"{url}/{path}", "events": ["expense.*"]})
        workers = [worker(open_server) for _number in range(2)]
        try:
            for number in range(EXPENSES):
                for trip_id in trips:
                    record(client, trip_id)
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
def test_workers_at_once_send_each_message_once(open_server, client):
    with receiving(None) as receiver:
        trip_id = made(client, "/trips", lisbon())["id"]
        for path in range(4):
            url = f"http://127.0.0.1:{receiver.port}/{path}"
            made(client, "/webhooks", {"url": url, "tripId": trip_id})
        for _number in range(5):
            record(client, trip_id)
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


def test_a_webhook_is_deleted_beside_its_worker(open_server, client):
    """A worker locks the webhook before it writes a delivery, and so does whoever deletes it."""
    hook = made(client, "/webhooks", {"url": "http://127.0.0.1:9/"})["id"]
    assert client.post(f"/webhooks/{hook}/test").status_code == 202
    noted = ("UPDATE splits_webhookdelivery SET error = '' WHERE webhook_id = %s", hook)
    gone, _is_unchanged = answer_after(
        open_server, "splits_webhook", hook, lambda: client.delete(f"/webhooks/{hook}"), noted
    )
    assert gone.status_code == 204, gone.text
    assert client.get(f"/webhooks/{hook}").status_code == 404
