"""Registering webhooks: whose they are, where they lead, what is shown of them, and signatures."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from plugins.webhooks.mails import WEBHOOK_NEW
from plugins.webhooks.models import Webhook, WebhookDelivery
from plugins.webhooks.models.delivery import DeliveryState, new_message_id
from plugins.webhooks.sending import deliver
from plugins.webhooks.tests.hooks import URL, WEBHOOKS, record, register
from tests.factories import PASSWORD, purge
from tests.stored import everything_stored
from tests.users.logins import log_in
from trips.models import Member
from trips.roles import TripRole
from users.models import Mail

pytestmark = pytest.mark.either


def refused_for(response):
    assert (response.status_code, response.json()["code"]) == (400, "invalid")
    return list(response.json()["errors"])


def test_a_secret_is_shown_once_and_is_not_stored(api, trip, olga):
    response = api(olga).post(WEBHOOKS, {"url": URL, "tripId": trip.pk, "events": ["expense.*"]})
    shown = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"{WEBHOOKS}/{shown['id']}"
    secret = shown.pop("secret")
    created_at = shown.pop("createdAt")
    assert shown == {
        "id": Webhook.objects.get().pk,
        "url": URL,
        "tripId": trip.pk,
        "events": ["expense.*"],
        "state": "on",
        "lastDelivery": None,
    }
    assert secret.startswith("whsec_")
    again = api(olga).get(response["Location"]).json()
    assert again == shown | {"createdAt": created_at}
    assert api(olga).get(WEBHOOKS).json()["items"] == [again]
    stored = repr(everything_stored())
    assert secret not in stored
    assert secret.removeprefix("whsec_") not in stored


def test_without_a_trip_it_is_for_all_trips_and_all_events(api, vera):
    shown = register(api, vera)
    assert (shown["tripId"], shown["events"]) == (None, ["*"])


def test_what_was_answered_is_sent_back_and_changes_nothing(api, trip, olga):
    client = api(olga)
    made = register(api, olga, tripId=trip.pk, events=["expense.*"])
    path = f"{WEBHOOKS}/{made['id']}"
    # Its host is away, so messages wait.
    Webhook.objects.update(url="https://away.invalid/", failures=3, failing_since=timezone.now())
    before, stored = client.get(path).json(), Webhook.objects.values().get()
    assert client.patch(path, before).status_code == 200
    assert Webhook.objects.values().get() == stored


def test_the_webhooks_of_others_are_in_no_list(api, olga, ada):
    register(api, olga)
    assert api(ada).get(WEBHOOKS).json()["items"] == []


def test_the_message_of_another_webhook_is_invisible(api, olga):
    one, other = register(api, olga)["id"], register(api, olga)["id"]
    delivery = api(olga).post(f"{WEBHOOKS}/{one}/test").json()["id"]
    assert api(olga).post(f"{WEBHOOKS}/{other}/deliveries/{delivery}/redeliver").status_code == 404


@pytest.mark.parametrize(
    "url", ["http://93.184.216.34/", "https://10.1.2.3:8443/", "https://olga:x@93.184.216.34/"]
)
def test_addresses_that_are_not_public_are_refused(api, olga, url):
    path = f"{WEBHOOKS}/{register(api, olga)['id']}"
    before = Webhook.objects.values().get()
    assert refused_for(api(olga).post(WEBHOOKS, {"url": url})) == ["url"]
    assert refused_for(api(olga).patch(path, {"url": url})) == ["url"]
    assert Webhook.objects.values().get() == before


def test_a_setting_allows_them_for_development(api, olga, settings):
    settings.WEBHOOKS_ALLOW_PRIVATE = True
    assert register(api, olga, url="http://127.0.0.1:81/")["state"] == "on"


@pytest.mark.parametrize(
    "events",
    ["*", [], ["expense"], ["expense.eaten"], ["*.changed"], ["expense.**"], [1], ["*"] * 51],
)
def test_patterns_that_cover_no_event_are_refused(api, olga, events):
    response = api(olga).post(WEBHOOKS, {"url": URL, "events": events})
    assert refused_for(response)[0].startswith("events")
    assert not Webhook.objects.exists()


def test_a_change_keeps_what_is_not_sent(api, olga):
    path = f"{WEBHOOKS}/{register(api, olga)['id']}"
    changed = api(olga).patch(path, {"events": ["split.paid", "split.paid"]}).json()
    assert (changed["events"], changed["url"], changed["state"]) == (["split.paid"], URL, "on")
    assert api(olga).patch(path, {"state": "off"}).json()["state"] == "off"
    assert api(olga).patch(path, {}).json()["state"] == "off"
    moved = api(olga).patch(path, {"url": f"{URL}/2", "tripId": None}).json()
    assert (moved["url"], moved["tripId"], moved["state"]) == (f"{URL}/2", None, "off")


def test_a_trip_and_an_account_have_a_limit(api, trip, olga, ed, settings):
    settings.QUOTA_WEBHOOKS = 2
    Member.objects.filter(user=ed).update(role=TripRole.OWNER)
    for user in (olga, ed):
        register(api, user, tripId=trip.pk)
        register(api, user)
    for body in ({"url": URL, "tripId": trip.pk}, {"url": URL}):
        if "tripId" not in body:
            register(api, olga)
        response = api(olga).post(WEBHOOKS, body)
        assert (response.status_code, response.json()["code"]) == (409, "limit_reached")
    # What its owner may no longer have does not count.
    Member.objects.filter(user=ed).update(role=TripRole.EDITOR)
    register(api, olga, tripId=trip.pk)


def test_a_deleted_webhook_leaves_nothing(api, trip, olga):
    path = f"{WEBHOOKS}/{register(api, olga, tripId=trip.pk)['id']}"
    api(olga).post(f"{path}/test")
    assert api(olga).delete(path).status_code == 204
    assert api(olga).get(path).status_code == 404
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_messages_are_kept_for_a_month_and_those_that_wait_longer(olga):
    hook = Webhook.register(olga, url=URL, events=["*"])
    month_ago = timezone.now() - timedelta(days=30, minutes=1)
    for state, at in (("delivered", month_ago), ("waiting", month_ago), ("delivered", None)):
        made = hook.deliveries.create(event="webhook.test")
        rows = WebhookDelivery.objects.filter(pk=made.pk)
        rows.update(state=DeliveryState(state), created_at=at or timezone.now())
    said = StringIO()
    call_command("prune", stdout=said)
    assert "1 webhook deliveries" in said.getvalue()
    assert WebhookDelivery.objects.count() == 2


def test_webhooks_end_with_their_account(api, sam):
    register(api, sam)
    assert api(sam).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert not Webhook.objects.exists()


def test_webhooks_end_with_their_trip(api, trip, olga):
    register(api, olga, tripId=trip.pk)
    api(olga).delete(f"/api/trips/{trip.pk}")
    purge(trip)
    assert not Webhook.objects.exists()


def test_the_log_has_the_newest_first(api, olga):
    path = f"{WEBHOOKS}/{register(api, olga)['id']}"
    first, second = (api(olga).post(f"{path}/test") for _number in range(2))
    assert first.status_code == 202
    shown = api(olga).get(f"{path}/deliveries").json()
    assert [row["id"] for row in shown["items"]] == [second.json()["id"], first.json()["id"]]
    [delivery] = [row for row in shown["items"] if row == first.json()]
    assert delivery == {
        "id": delivery["id"],
        "messageId": delivery["messageId"],
        "event": "webhook.test",
        "tripId": None,
        "number": None,
        "state": "waiting",
        "attempts": 0,
        "createdAt": delivery["createdAt"],
        "lastAt": None,
        "status": None,
        "error": "",
        "durationMs": None,
    }
    assert delivery["messageId"].startswith("msg_")


def test_a_message_that_ended_waits_again(api, olga):
    webhook = Webhook.objects.get(pk=register(api, olga)["id"])
    delivery = WebhookDelivery.objects.create(
        webhook=webhook,
        message_id=new_message_id(),
        event="expense.created",
        journal_trip_id=7,
        number=1,
        state=DeliveryState.FAILED,
    )
    again = api(olga).post(f"{WEBHOOKS}/{webhook.pk}/deliveries/{delivery.pk}/redeliver")
    assert again.status_code == 202
    assert again.json()["state"] == "waiting"
    assert again.json()["messageId"] == delivery.message_id
    assert WebhookDelivery.objects.get().by_hand


def test_redelivery_of_a_waiting_message_shortens_the_pause(api, olga):
    webhook = Webhook.objects.get(pk=register(api, olga)["id"])
    later = timezone.now() + timedelta(hours=3)
    Webhook.objects.update(due_at=later)
    delivery = WebhookDelivery.objects.create(
        webhook=webhook, message_id=new_message_id(), event="expense.created"
    )
    api(olga).post(f"{WEBHOOKS}/{webhook.pk}/deliveries/{delivery.pk}/redeliver")
    assert Webhook.objects.get().due_at < later
    assert not WebhookDelivery.objects.get().by_hand


def test_a_new_webhook_is_announced_by_mail(api, olga):
    log_in(olga)
    hook = register(api, olga)
    mail = Mail.objects.get()
    assert (mail.letter, mail.address) == (WEBHOOK_NEW, olga.email)
    # So is another address of one that the owner knows.
    for url, mails in ((URL, 1), (f"{URL}?other", 2)):
        api(olga).patch(f"{WEBHOOKS}/{hook['id']}", {"url": url, "events": ["*"]})
        assert Mail.objects.filter(letter=WEBHOOK_NEW).count() == mails
    again = api(olga).post("/api/webhooks", {"url": URL}, HTTP_IDEMPOTENCY_KEY="k")
    repeated = api(olga).post("/api/webhooks", {"url": URL}, HTTP_IDEMPOTENCY_KEY="k")
    assert (repeated.status_code, repeated.json()["code"]) == (409, "already_made")
    assert repeated.json()["id"] == again.json()["id"] != hook["id"]
    assert Webhook.objects.count() == 2


def test_messages_are_signed_with_both_secrets_for_a_day_after_a_rotation(
    api, trip, olga, receiver, hook
):
    """T167: Messages are signed, also with the former secret for a day."""
    renewed = api(olga).post(f"{WEBHOOKS}/{hook['id']}/rotate-secret").json()["secret"]
    assert renewed != hook["secret"]
    record(api, olga, trip)
    deliver()
    for secret in (renewed, hook["secret"]):
        Verifier(secret).verify(receiver.received[0].body, receiver.received[0].headers)
    Webhook.objects.update(former_until=timezone.now())
    record(api, olga, trip)
    deliver()
    last = receiver.received[-1]
    Verifier(renewed).verify(last.body, last.headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(hook["secret"]).verify(last.body, last.headers)
