"""Messages to webhooks, with a real receiver: whole, in order, and retried."""

import time
from collections import deque
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from threading import BoundedSemaphore, Event, active_count

import pytest
import time_machine
from django.utils import timezone
from standardwebhooks import Webhook as Verifier

from plugins.outgoing import BadAddress, require_reachable
from plugins.webhooks import sending
from plugins.webhooks.models import Webhook, WebhookDelivery
from plugins.webhooks.models.delivery import new_message_id
from plugins.webhooks.models.queue import (
    GIVE_UP_AFTER,
    LEASE,
    MOST_OF_AN_ACCOUNT,
    RETRY_AFTER,
    Lease,
    due,
)
from plugins.webhooks.sending import deliver, send
from plugins.webhooks.tests.hooks import URL, WEBHOOKS, bodies, log_of, make_due, record, register
from plugins.webhooks.tests.receiver import HOST, never, status
from tests.factories import TripFactory, join, owned_trip
from tripcompanion.database.lending import returning
from trips.models import JournalEntry, Member
from trips.roles import TripRole
from users.models import Mail, User


def test_a_change_arrives_signed_with_its_fields_and_the_state(api, trip, olga, receiver, hook):
    expense = record(api, olga, trip)
    assert deliver() == (1, 0)
    [request] = receiver.received
    body = Verifier(hook["secret"]).verify(request.body, request.headers)
    assert body["tripId"] == trip.pk
    assert body["event"] == "expense.created"
    assert body["object"] == {"type": "expense", "id": expense["id"]}
    assert body["by"]["id"] == olga.pk
    assert body["via"] == "session"
    assert body["changes"]["description"] == {"old": None, "new": "Dinner"}
    assert body["state"] == api(olga).get(f"/api/trips/{trip.pk}/expenses/{expense['id']}").json()
    history = api(olga).get(f"/api/trips/{trip.pk}/history").json()["items"]
    assert body == {**history[0], "state": body["state"]}
    [delivery] = log_of(api, olga, hook)
    assert delivery["messageId"] == request.headers["webhook-id"]
    assert (delivery["state"], delivery["status"], delivery["attempts"]) == ("delivered", 204, 1)
    assert delivery["number"] == body["number"]
    shown = api(olga).get(f"{WEBHOOKS}/{hook['id']}").json()["lastDelivery"]
    assert shown == {"at": delivery["lastAt"], "status": 204}
    assert deliver() == (0, 0)


def test_a_filter_skips_other_events(api, trip, olga, receiver, hook):
    client = api(olga)
    client.patch(f"{WEBHOOKS}/{hook['id']}", {"events": ["trip.changed", "expense.deleted"]})
    url = f"/api/trips/{trip.pk}/expenses/{record(api, olga, trip)['id']}"
    client.patch(f"/api/trips/{trip.pk}", {"title": "Porto"})
    client.delete(url)
    deliver()
    assert [body["event"] for body in bodies(receiver)] == ["trip.changed", "expense.deleted"]
    # What is gone has no state.
    assert bodies(receiver)[1]["state"] is None
    assert not Lease.claim()


def test_the_webhook_of_an_account_gets_what_happens_in_its_trips_from_then_on(
    api, trip, olga, vera, receiver
):
    record(api, olga, trip, "before")
    register(api, vera, url=f"https://{HOST}:{receiver.port}/", events=["expense.*", "member.*"])
    other, strange = TripFactory(), TripFactory()
    for one in (other, strange):
        join(one, olga, TripRole.OWNER)
    record(api, olga, other, "before she joined")
    record(api, olga, strange, "strange")
    api(olga).post(f"/api/trips/{other.pk}/members", {"userId": vera.pk})
    record(api, olga, trip, "here")
    record(api, olga, other, "there")
    deliver()
    seen = [(body["tripId"], body["event"]) for body in bodies(receiver)]
    assert sorted(seen) == sorted(
        [(trip.pk, "expense.created"), (other.pk, "member.added"), (other.pk, "expense.created")]
    )
    api(olga).delete(f"/api/trips/{other.pk}/members/{vera.pk}")
    record(api, olga, other, "after she left")
    receiver.received.clear()
    lease = Lease.claim()
    assert lease is not None
    lease.align()
    assert list(lease.webhook.positions.values_list("trip", flat=True)) == [trip.pk]
    lease.release()
    assert deliver() == (0, 0)
    api(olga).post(f"/api/trips/{other.pk}/members", {"userId": vera.pk})
    record(api, olga, other, "after she came back")
    deliver()
    assert [body["event"] for body in bodies(receiver)] == ["member.added", "expense.created"]


def test_a_failed_message_holds_back_the_later_ones_and_keeps_its_id(
    api, trip, olga, receiver, hook
):
    for name in ("first", "second"):
        record(api, olga, trip, name)
    receiver.answer = status(500)
    assert deliver() == (0, 1)
    assert deliver() == (0, 0)
    make_due()
    receiver.answer = status(200)
    assert deliver() == (2, 0)
    ids = [request.headers["webhook-id"] for request in receiver.received]
    assert [body["state"]["description"] for body in bodies(receiver)] == [
        "first",
        "first",
        "second",
    ]
    assert ids[0] == ids[1] != ids[2]
    assert [row["attempts"] for row in log_of(api, olga, hook)] == [1, 2]


def test_another_webhook_is_not_held_back(api, trip, olga, receiver, hook):
    register(api, olga, url=f"https://{HOST}:{receiver.port}/good", tripId=trip.pk)
    receiver.answers["/"] = status(500)
    record(api, olga, trip)
    assert deliver() == (1, 1)


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_unexpected_error_with_one_webhook_delays_no_other(
    api, trip, olga, sam, receiver, hook, by_hand
):
    record(api, olga, trip)
    if by_hand:
        deliver()
        path = f"{WEBHOOKS}/{hook['id']}/deliveries/{log_of(api, olga, hook)[0]['id']}"
        assert api(olga).post(f"{path}/redeliver").status_code == 202
    readable = JournalEntry.objects.get(trip=trip).stored_changes
    JournalEntry.objects.filter(trip=trip).update(stored_changes="{")
    own = owned_trip(sam)
    register(api, sam, url=f"https://{HOST}:{receiver.port}/own", tripId=own.pk)
    record(api, sam, own)
    assert deliver() == (1, 0)
    assert receiver.received[-1].path == "/own"
    [message] = log_of(api, olga, hook)
    assert message["state"] == ("failed" if by_hand else "waiting")
    JournalEntry.objects.filter(trip=trip).update(stored_changes=readable)
    assert deliver() == (0, 0)
    with time_machine.travel(timezone.now() + RETRY_AFTER):
        assert deliver() == (int(not by_hand), 0)


def test_webhooks_are_looked_at_in_batches_the_longest_waiting_first(
    api, trip, olga, receiver, monkeypatch,
    django_assert_num_queries,
):  # fmt: skip
    start = timezone.now()

    def add(path, seconds, **fields):
        hook = register(api, olga, url=f"https://{HOST}:{receiver.port}{path}", **fields)
        Webhook.objects.filter(pk=hook["id"]).update(due_at=start - timedelta(seconds=seconds))

    add("/second", 20, tripId=trip.pk)
    add("/third", 20, tripId=trip.pk)
    add("/first", 30)
    record(api, olga, trip)
    for path in ("/idle", "/too"):
        add(path, 40, tripId=trip.pk)
    with django_assert_num_queries(5):
        at_once = list(due())
    monkeypatch.setattr("plugins.webhooks.models.queue.BATCH_WEBHOOKS", 2)
    assert [webhook.pk for webhook in due()] == [webhook.pk for webhook in at_once]
    assert deliver() == (3, 0)
    assert [request.path for request in receiver.received] == ["/first", "/second", "/third"]


def test_with_nothing_to_send_the_webhooks_are_looked_at_once(hook, django_assert_num_queries):
    with django_assert_num_queries(3):
        assert deliver() == (0, 0)


def test_the_next_message_costs_the_same_however_many_trips_there_are(
    api, olga, ed, receiver, django_assert_num_queries
):
    trips = {olga: [owned_trip(olga)], ed: [owned_trip(ed) for _number in range(20)]}
    for user in trips:
        register(api, user, url=f"https://{HOST}:{receiver.port}/{user.pk}")
    assert deliver() == (0, 0)
    for user, own in trips.items():
        record(api, user, own[-1])
        lease = Lease.claim()
        lease.align()
        with django_assert_num_queries(9):
            assert lease.next().journal_trip_id == own[-1].pk
        lease.release()
        assert deliver() == (1, 0)


@pytest.mark.parametrize("code", [301, 302, 307, 400, 404, 410, 500])
def test_only_2xx_is_a_success(api, trip, olga, receiver, hook, code):
    receiver.answer = status(code)
    record(api, olga, trip)
    assert deliver() == (0, 1)
    [delivery] = log_of(api, olga, hook)
    assert (delivery["state"], delivery["status"]) == ("waiting", code)


def test_a_receiver_that_never_answers_is_a_timeout(api, trip, olga, receiver, hook, monkeypatch):
    """T166: A receiver takes five seconds of a worker at most."""
    monkeypatch.setattr("plugins.webhooks.sending.TIMEOUT_SECONDS", 0.3)
    receiver.answer = never
    record(api, olga, trip)
    assert deliver() == (0, 1)
    [delivery] = log_of(api, olga, hook)
    assert (delivery["status"], delivery["error"]) == (None, "timeout")
    assert 250 < delivery["durationMs"] < 3000


def test_an_address_that_became_private_is_not_reached(api, trip, olga, receiver, hook, settings):
    settings.WEBHOOKS_ALLOW_PRIVATE = False
    record(api, olga, trip)
    assert deliver() == (0, 1)
    assert log_of(api, olga, hook)[0]["error"] == "address"
    assert receiver.connections == 0


def test_the_pauses_grow_and_after_three_days_it_is_off_and_its_account_told(
    api, trip, olga, receiver, hook
):
    record(api, olga, trip, "poison")
    receiver.answer = status(500)
    start = timezone.now()
    pauses = []
    with time_machine.travel(start, tick=False) as clock:
        while Webhook.objects.get().state == "on" and len(pauses) < 60:
            before = timezone.now()
            assert deliver() == (0, 1)
            pauses.append((Webhook.objects.get().due_at - before).total_seconds())
            clock.shift(pauses[-1])
        assert GIVE_UP_AFTER <= timezone.now() - start < GIVE_UP_AFTER + timedelta(hours=12)
    assert pauses[:4] == [5, 10, 20, 40]
    assert max(pauses) == 4 * 3600
    assert len(pauses) < 40
    mail = Mail.objects.latest("id")
    assert (mail.letter, mail.address) == ("WEBHOOK_OFF", olga.email)
    [delivery] = log_of(api, olga, hook)
    assert delivery["state"] == "failed"
    # Off, it sends nothing; on again, it goes on with what came after.
    record(api, olga, trip, "next")
    receiver.received.clear()
    receiver.answer = status(200)
    assert deliver() == (0, 0)
    api(olga).patch(f"{WEBHOOKS}/{hook['id']}", {"state": "on"})
    assert deliver() == (1, 0)
    assert [body["state"]["description"] for body in bodies(receiver)] == ["next"]


def test_a_message_is_sent_again_by_hand_with_the_same_id(api, trip, olga, receiver, hook):
    expense = record(api, olga, trip)
    deliver()
    api(olga).patch(f"/api/trips/{trip.pk}/expenses/{expense['id']}", {"description": "Lunch"})
    deliver()
    first = log_of(api, olga, hook)[-1]
    url = f"{WEBHOOKS}/{hook['id']}/deliveries/{first['id']}/redeliver"
    assert api(olga).post(url).status_code == 202
    assert deliver() == (1, 0)
    assert receiver.received[-1].headers["webhook-id"] == first["messageId"]
    # The event is the old one, the state is that of now.
    assert bodies(receiver)[-1]["changes"] == bodies(receiver)[0]["changes"]
    assert bodies(receiver)[-1]["state"]["description"] == "Lunch"


def test_a_message_that_was_being_retried_is_sent_by_hand_if_the_webhook_is_off(
    api, trip, olga, receiver, hook
):
    receiver.answer = status(500)
    record(api, olga, trip)
    assert deliver() == (0, 1)
    receiver.answer = status(204)
    path = f"{WEBHOOKS}/{hook['id']}"
    api(olga).patch(path, {"state": "off"})
    [message] = log_of(api, olga, hook)
    assert api(olga).post(f"{path}/deliveries/{message['id']}/redeliver").status_code == 202
    assert deliver() == (1, 0)
    assert log_of(api, olga, hook)[0]["state"] == "delivered"


def test_a_test_message_is_sent_once_also_if_the_webhook_is_off(api, trip, olga, receiver, hook):
    api(olga).patch(f"{WEBHOOKS}/{hook['id']}", {"state": "off"})
    api(olga).post(f"{WEBHOOKS}/{hook['id']}/test")
    receiver.answer = status(500)
    assert deliver() == (0, 1)
    assert deliver() == (0, 0)
    [request] = receiver.received
    body = Verifier(hook["secret"]).verify(request.body, request.headers)
    assert (body["event"], body["tripId"], body["state"]) == ("webhook.test", trip.pk, None)
    assert [row["state"] for row in log_of(api, olga, hook)] == ["failed"]
    assert Webhook.objects.get().failures == 0


@pytest.mark.parametrize("loss", ["role", "membership", "deactivation"])
def test_what_its_account_may_no_longer_have_gets_nothing(
    api, trip, olga, ed, receiver, hook, loss
):
    """T169: A webhook gets nothing that its account may not see."""
    Member.objects.filter(user=ed).update(role=TripRole.OWNER)
    api(olga).post(f"{WEBHOOKS}/{hook['id']}/test")
    if loss == "role":
        Member.objects.filter(user=olga).update(role=TripRole.EDITOR)
    elif loss == "membership":
        Member.objects.filter(user=olga).update(left_at=timezone.now())
    else:
        User.objects.filter(pk=olga.pk).update(is_active=False)
    record(api, ed, trip)
    assert deliver() == (0, 0)
    assert receiver.connections == 0


def test_a_worker_that_lost_the_role_between_two_messages_stops(api, trip, olga, receiver, hook):
    record(api, olga, trip)
    lease = Lease.claim()
    Member.objects.filter(user=olga).update(role=TripRole.EDITOR)
    assert lease.next() is None


@pytest.mark.parametrize("waits", [False, True])
def test_a_worker_whose_account_lost_a_trip_between_two_messages_goes_on_with_others(
    api, trip, olga, ed, vera, receiver, waits
):
    """T185: A worker sends nothing more of a trip that the account lost."""
    hook = register(api, vera, url=f"https://{HOST}:{receiver.port}/", events=["expense.*"])
    other = TripFactory()
    for user, role in ((olga, TripRole.OWNER), (vera, TripRole.VIEWER)):
        join(other, user, role)
    record(api, olga, trip, "first")
    lease = Lease.claim()
    lease.align()
    delivery = lease.next()
    assert lease.note(delivery, send(lease.webhook, delivery))
    if waits:
        path = f"{WEBHOOKS}/{hook['id']}/deliveries/{delivery.pk}/redeliver"
        assert api(vera).post(path).status_code == 202
    record(api, olga, trip, "second")
    record(api, olga, other, "elsewhere")
    assert api(olga).delete(f"/api/trips/{trip.pk}/members/{vera.pk}").status_code == 204
    delivery = lease.next()
    assert (delivery.journal_trip_id, delivery.event) == (other.pk, "expense.created")


def test_what_was_sent_but_not_noted_is_sent_again_with_the_same_id(
    api, trip, olga, receiver, hook
):
    """A worker that is killed between the two."""
    record(api, olga, trip, "first")
    record(api, olga, trip, "second")
    killed = Lease.claim()
    send(killed.webhook, killed.next())
    assert deliver() == (0, 0)
    with time_machine.travel(timezone.now() + LEASE):
        assert deliver() == (2, 0)
    ids = [request.headers["webhook-id"] for request in receiver.received]
    assert ids[0] == ids[1] != ids[2]
    assert len(WebhookDelivery.objects.all()) == 2


def test_a_worker_whose_lease_has_passed_to_another_changes_nothing(
    api, trip, olga, receiver, hook
):
    record(api, olga, trip)
    slow = Lease.claim()
    delivery = slow.next()
    attempt = send(slow.webhook, delivery)
    with time_machine.travel(timezone.now() + LEASE):
        assert deliver() == (1, 0)
        after = list(WebhookDelivery.objects.values()), list(Webhook.objects.values())
        assert slow.note(delivery, attempt) is False
        assert slow.next() is None
        slow.release()
    assert (list(WebhookDelivery.objects.values()), list(Webhook.objects.values())) == after


def test_t196_a_slow_receiver_delays_no_other_account(
    api, trip, olga, ed, receiver, hook, monkeypatch
):
    """T196: A slow receiver delays the messages of no other account.

    Each message of Olga's takes a fifth of a turn; Ed's comes after one turn, not after all.
    """
    monkeypatch.setattr("plugins.webhooks.sending.TURN_SECONDS", 0.5)
    other = owned_trip(ed)
    register(api, ed, url=f"https://{HOST}:{receiver.port}/ed", tripId=other.pk)
    for number in range(12):
        record(api, olga, trip, f"Dinner {number}")
    record(api, ed, other, "Taxi")

    def slow(handler):
        time.sleep(0 if handler.path == "/ed" else 0.1)
        status(204)(handler)

    receiver.answer = slow
    assert deliver() == (13, 0)
    assert [request.path for request in receiver.received].index("/ed") <= 7
    own = [body["object"]["id"] for body in bodies(receiver) if body["tripId"] == trip.pk]
    assert own == sorted(own)


def test_slow_receivers_do_not_keep_all_threads(api, trip, olga, ed, receiver, hook, monkeypatch):
    own = owned_trip(ed)
    register(api, ed, url=f"https://{HOST}:{receiver.port}/ed", tripId=own.pk)
    monkeypatch.setattr(sending, "_slow", deque())
    with monkeypatch.context() as patched:
        patched.setattr(sending, "SLOW_MS", 0)
        record(api, olga, trip)
        assert deliver() == (1, 0)
    for _message in range(2):
        record(api, olga, trip)
        record(api, ed, own)
    with ExitStack() as other_threads:
        for _thread in range(sending.THREADS - 1):
            other_threads.enter_context(sending._slow_turns)
        assert deliver() == (2, 0)
        assert {request.path for request in receiver.received[1:]} == {"/ed"}
    assert deliver() == (2, 0)


def test_one_account_does_not_keep_all_workers(api, trip, olga, ed, receiver):
    url = f"https://{HOST}:{receiver.port}/"
    for number in range(4):
        register(api, olga, url=f"{url}{number}", tripId=trip.pk)
    register(api, ed, url=f"{url}ed")
    record(api, olga, trip)
    claimed = [Lease.claim() for _worker in range(5)]
    users = [lease.webhook.user_id for lease in claimed if lease]
    assert sorted(users) == sorted([olga.pk] * MOST_OF_AN_ACCOUNT + [ed.pk])
    for lease in claimed:
        if lease:
            lease.release()
    assert deliver() == (5, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [{}, {"HTTP_IDEMPOTENCY_KEY": "once"}])
def test_a_host_is_looked_up_without_a_connection(api, olga, monkeypatch, headers):
    said: list[str] = []

    @contextmanager
    def give_back():
        said.append("returned")
        yield
        said.append("taken")

    monkeypatch.setattr(
        "plugins.webhooks.models.webhook.require_reachable",
        lambda *_url, **_how: said.append("looked up"),
    )
    token = returning.set(give_back)
    made = api(olga).post(WEBHOOKS, {"url": URL}, **headers)
    returning.reset(token)
    assert made.status_code == 201
    assert said == ["returned", "looked up", "taken"]


def test_lookups_at_once_are_limited(monkeypatch):
    ended = Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_host, **_how: ended.wait(20) and [])
    monkeypatch.setattr("plugins.outgoing._LOOKUPS", BoundedSemaphore(2))
    threads = active_count()
    try:
        for _number in range(5):
            with pytest.raises(BadAddress):
                require_reachable("https://slow.example", allow_private=False, seconds=0.05)
        assert active_count() <= threads + 2
    finally:
        ended.set()


def test_accounts_take_turns(receiver, olga, ed):
    for user in (*[olga] * 5, ed, olga):
        webhook = Webhook.objects.create(user=user, url=f"https://{HOST}:{receiver.port}/{user.pk}")
        webhook.deliveries.create(event="webhook.test", message_id=new_message_id(), by_hand=True)
    assert deliver() == (7, 0)
    assert [request.path for request in receiver.received] == [
        f"/{user.pk}" for user in (olga, ed, *[olga] * 5)
    ]
