"""Webhooks in the admin site."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.webhooks.models import Webhook


@admin.register(Webhook)
class WebhookAdmin(ExportedAdmin):
    """Webhooks and the results of their last messages. Only the hosts of the URLs are displayed."""

    csv_columns = {
        **named("id"),
        "user_email": "user__email",
        **named("trip_id", "state", "last_at", "last_status", "failing_since", "due_at"),
        "created_at": "created_at",
    }
    list_display = (
        *("id", "user", "trip", "host", "state", "last_at"),
        *("last_status", "failing_since", "created_at"),
    )
    list_filter = ("state",)
    search_help_text = gettext_lazy("A person's e-mail or name, or a trip's title")
    fields = ("user", "trip", "host", "events", *list_display[4:-1], "due_at", "created_at")

    @admin.display(description=gettext_lazy("host"))
    def host(self, webhook: Webhook) -> str:
        return webhook.host
