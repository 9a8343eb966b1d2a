"""Invitations in the admin site."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.invitations.models import Invitation
from trips.admin import caller_of


@admin.register(Invitation)
class InvitationAdmin(ExportedAdmin):
    """Invitations, which an administrator can revoke. Their digests are not displayed."""

    csv_columns: ClassVar = {
        **named("id", "trip_id"),
        "trip_title": "trip__title",
        "invited_by": "created_by__email",
        **named("role", "email", "note", "max_uses", "uses"),
        **named("created_at", "expires_at", "revoked_at"),
    }
    list_display = (
        *("id", "trip", "created_by", "role", "email"),
        *("uses", "max_uses", "created_at", "expires_at", "revoked_at"),
    )
    list_filter = ("role",)
    search_fields = ("email",)
    date_hierarchy = "created_at"
    fields = ("trip", "created_by", "role", "email", "guest", "note", *list_display[-5:])
    actions = ("revoke",)
    row_actions: ClassVar = {"revoke": gettext_lazy("Revoke this invitation")}

    def get_row_actions(self, request: HttpRequest, row: Invitation) -> Any:
        return self.row_actions if row.revoked_at is None else {}

    @admin.action(description=gettext_lazy("Revoke these invitations"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        valid = list(queryset.filter(revoked_at=None).order_by("trip_id", "pk"))
        for invitation in valid:
            invitation.revoke(by=caller_of(request))
            self.log_change(request, invitation, gettext_lazy("Revoked."))
        self.tell_count(request, _("Invitations revoked: %(count)d."), len(valid))
