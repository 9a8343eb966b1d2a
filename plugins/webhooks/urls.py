"""The routes of webhooks."""

from django.urls import include, path

from plugins.webhooks.views import WebhookViewSet
from tripcompanion.api.url_map import CHANGED, LIST

WEBHOOKS = [
    path("", WebhookViewSet.as_view(LIST)),
    path("/<id:webhook_id>", WebhookViewSet.as_view(CHANGED)),
    path("/<id:webhook_id>/test", WebhookViewSet.as_view({"post": "test"})),
    path("/<id:webhook_id>/rotate-secret", WebhookViewSet.as_view({"post": "rotate_secret"})),
    path("/<id:webhook_id>/deliveries", WebhookViewSet.as_view({"get": "deliveries"})),
    path(
        "/<id:webhook_id>/deliveries/<id:delivery_id>/redeliver",
        WebhookViewSet.as_view({"post": "redeliver"}),
    ),
]

API = [path("webhooks", include(WEBHOOKS))]
