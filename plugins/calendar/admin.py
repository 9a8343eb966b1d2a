"""The links to calendars in the admin site."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.calendar.models import CalendarLink
from plugins.csv_export import named


@admin.register(CalendarLink)
class CalendarLinkAdmin(ExportedAdmin):
    """Links, which an administrator can revoke. Their digests are not displayed."""

    csv_columns: ClassVar = {
        **named("id"),
        "user_email": "user__email",
        **named("trip_id", "created_at", "read_at"),
    }
    fields = ("user", "trip", "created_at", "read_at")
    list_display = ("id", *fields)
    search_help_text = gettext_lazy("A person's e-mail or name, or a trip's title")
    actions = ("revoke",)
    row_actions: ClassVar = {"revoke": gettext_lazy("Revoke this link")}

    @admin.action(description=gettext_lazy("Revoke these links"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[CalendarLink]) -> None:
        links = list(queryset.order_by("pk"))
        for link in links:
            self.log_change(request, link, gettext_lazy("Revoked."))
            link.delete()
        self.tell_count(request, _("Links revoked: %(count)d."), len(links))
