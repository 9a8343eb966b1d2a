"""Polls in the admin site, with numbers of votes and without voters."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.polls.models import Poll
from trips.admin import person


@admin.register(Poll)
class PollAdmin(ExportedAdmin):
    """What was asked in a trip, and whether people can vote."""

    csv_columns = named(
        *("id", "trip_id", "created_by_id", "question", "multiple", "anonymous"),
        *("shows_votes", "closes_at", "closed_at", "created_at", "deleted_at"),
    )
    list_display = (
        *("id", "trip", "question", person("created_by", gettext_lazy("created by"))),
        *("anonymous", "closed_at", "deleted_at", "created_at"),
    )
    list_filter = ("multiple", "anonymous", "shows_votes")
    list_select_related = ("trip", "created_by")
    search_fields = ("trip__title", "question", "created_by__email", "created_by__name")
    search_help_text = gettext_lazy("A question, a person's e-mail or name, or a trip's title")
    fields = (
        *("trip", "created_by", "question", "stored_options", "multiple", "anonymous"),
        *("shows_votes", "closes_at", "closed_at", "created_at", "updated_at", "deleted_at"),
    )
