"""What the tests that walk all apps need to know of webhooks; see `tests/walked.py`."""

from typing import Any

from plugins.webhooks.models import Webhook, WebhookDelivery, WebhookPosition
from plugins.webhooks.models.delivery import new_message_id
from plugins.webhooks.tests.hooks import URL
from plugins.webhooks.tests.receiver import resolving
from plugins.webhooks.views import WebhookViewSet
from tests.factories import TripFactory, owned_trip
from tests.trips.access import ALIEN, USER, Row, Scene, everybody, just

WEBHOOK = "/api/webhooks/{webhook_id}"


def body(scene: Scene) -> dict[str, Any]:
    return {"url": URL, "tripId": scene.trip.pk}


ROWS = [
    Row("GET", "/api/webhooks", statuses=USER),
    Row("POST", "/api/webhooks", body=body,
        statuses=everybody(403, owner=201, stranger=404, anonymous=401, admin=201)),
    Row("GET", WEBHOOK, statuses=ALIEN, own=USER),
    Row("PATCH", WEBHOOK, body=just(state="off"), statuses=ALIEN, own=USER),
    Row("DELETE", WEBHOOK, statuses=ALIEN, own=everybody(204)),
    Row("POST", f"{WEBHOOK}/test", statuses=ALIEN, own=everybody(202)),
    Row("POST", f"{WEBHOOK}/rotate-secret", statuses=ALIEN, own=USER),
    Row("GET", f"{WEBHOOK}/deliveries", statuses=ALIEN, own=USER),
    Row("POST", f"{WEBHOOK}/deliveries/{{delivery_id}}/redeliver", statuses=ALIEN,
        own=everybody(202)),
]  # fmt: skip
AREAS = {WebhookViewSet: None}
QUERIES = {"/api/webhooks": 3, WEBHOOK: 2, f"{WEBHOOK}/deliveries": 4}
#: Of its own rows; it locks no trip.
LOCKS = ["plugins/webhooks/models/webhook.py"]
SHOWS_SECRET = ["POST /api/webhooks", "POST /api/webhooks/{webhookId}/rotate-secret"]
PRUNED = ["webhook deliveries"]
ENDS = {("splits_webhookdelivery", "created_at")}
LISTS = {"/api/webhooks", f"{WEBHOOK}/deliveries"}
SINGLE = {WEBHOOK}
#: What is the same in the Spanish admin site.
DATA = [r"(\d+ )?[Ww]ebhooks?", "(Pagination|Search) webhooks"]
_FIRST = WebhookPosition.objects.order_by("pk").values("trip_id")[:1]
VIOLATIONS = [
    ("webhook_position_unique", "position", {"trip_id": _FIRST}),
    ("webhook_delivery_unique", "delivery", {"number": 1}),
]
UNIQUE = {"webhook_position_unique", "webhook_delivery_unique"}
SECRETS = {Webhook: ("salt", "url")}


def ids(scene: Scene, names: list[str]) -> dict[str, int]:
    if "webhook_id" not in names:
        return {}
    webhook = Webhook.register(scene.someone, url=URL, events=["*"])
    test = WebhookDelivery.test(scene.someone, webhook.pk)
    return {"webhook_id": webhook.pk, "delivery_id": test.pk}


def fill_world(world: Any) -> None:
    webhook = {"url": URL, "tripId": world.ids["tripId"], "events": ["expense.*"]}
    made = world.made("/api/webhooks", webhook)["id"]
    message = world.client.post(f"/api/webhooks/{made}/test").json()
    world.ids |= {"webhookId": made, "deliveryId": message["id"]}
    world.bodies |= {
        "POST /api/webhooks": [webhook],
        "PATCH /api/webhooks/{webhookId}": [{"url": URL, "events": ["*"], "state": "off"}],
    }


def many(_trip: Any, olga: Any, people: list[Any], _expense: Any) -> dict[str, int]:
    webhook = Webhook.register(olga, url=URL, events=["*"])
    values = {field.attname: getattr(webhook, field.attname) for field in Webhook._meta.fields}
    Webhook.objects.bulk_create(Webhook(**values | {"id": None}) for _user in people)
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(webhook=webhook, message_id=new_message_id(), event="webhook.test")
        for _user in people
    )
    return {"webhook_id": webhook.pk}


def one_of_each(_trip: Any, olga: Any, _user: Any, _expense: Any) -> None:
    own = owned_trip(olga)
    Webhook.register(olga, url=URL, events=["*"], trip_id=own.pk)


def lengthen(_text: str) -> None:
    Webhook.objects.update(url=f"https://{'long-name.' * 20}example.com/")


def constrained(trip: Any, olga: Any) -> dict[str, Any]:
    hook = Webhook.register(olga, url=URL, events=["*"], trip_id=trip.pk)
    other = hook.positions.create(trip=TripFactory(), number=0)
    made = {"event": "expense.created", "journal_trip_id": trip.pk}
    hook.deliveries.create(number=1, **made)
    second = hook.deliveries.create(number=2, **made)
    return {
        "position": hook.positions.filter(pk=other.pk),
        "delivery": hook.deliveries.filter(pk=second.pk),
    }


def made_in_a_session(user: Any) -> None:
    Webhook.register(user, url=URL, events=["*"])


def still_on() -> set[int]:
    return {*Webhook.objects.filter(state="on").values_list("user", flat=True)}


def resolve(monkeypatch: Any) -> None:
    """Give the host of the examples an address."""
    resolving(monkeypatch, hooks_example_com=["93.184.216.34"])
