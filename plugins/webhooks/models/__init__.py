"""Webhooks, how far they have read, and their messages."""

from plugins.webhooks.models.delivery import WebhookDelivery
from plugins.webhooks.models.webhook import Webhook, WebhookPosition
