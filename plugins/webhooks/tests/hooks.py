"""Registers webhooks, causes messages, and reads what arrived and what the log says."""

import json
from typing import Any

from django.utils import timezone

from plugins.webhooks.models import Webhook
from plugins.webhooks.tests.receiver import Receiver
from tests.cast import Api
from trips.models import Trip
from users.models import User

WEBHOOKS = "/api/webhooks"
#: A public address, so that no test asks a resolver.
URL = "https://93.184.216.34/in"


def register(api: Api, user: User, **body: Any) -> dict[str, Any]:
    response = api(user).post(WEBHOOKS, {"url": URL, **body})
    assert response.status_code == 201, response.content
    return response.json()


def record(api: Api, user: User, trip: Trip, description: str = "Dinner") -> dict[str, Any]:
    """An expense with what only some have: items and tags."""
    items = [{"name": "Fish", "amount": 60, "shares": {str(user.pk): 1}}]
    body = {
        "description": description, "amount": 60, "expenseDate": "2026-05-14",
        "splitType": "ITEMIZED", "items": items, "tags": ["Wine"],
    }  # fmt: skip
    response = api(user).post(f"/api/trips/{trip.pk}/expenses", body)
    assert response.status_code == 201, response.content
    return response.json()


def bodies(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in receiver.received]


def log_of(api: Api, user: User, hook: dict[str, Any]) -> list[dict[str, Any]]:
    return api(user).get(f"{WEBHOOKS}/{hook['id']}/deliveries").json()["items"]


def make_due() -> None:
    """Let all pauses pass."""
    Webhook.objects.update(due_at=timezone.now())
