"""Webhooks, how far they have read, and their messages."""

from tripcompanion.webhooks.models.delivery import WebhookDelivery
from tripcompanion.webhooks.models.webhook import Webhook, WebhookPosition
