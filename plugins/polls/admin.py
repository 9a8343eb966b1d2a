"""Polls in the admin site, with numbers of votes and without voters."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.polls.models import Poll


@admin.register(Poll)
class PollAdmin(ExportedAdmin):
    """What was asked in a trip, and whether people can vote."""

    _terms = ("multiple", "anonymous", "shows_votes", "closes_at", "closed_at", "created_at")
    csv_columns = named("id", "trip_id", "created_by_id", "question", *_terms, "deleted_at")
    list_display = (
        *("id", "trip", "question", "created_by"),
        *("anonymous", "closed_at", "deleted_at", "created_at"),
    )
    list_filter = ("multiple", "anonymous", "shows_votes")
    search_fields = ("question",)
    search_help_text = gettext_lazy("A question, a person's e-mail or name, or a trip's title")
    _what = ("trip", "created_by", "question", "stored_options")
    fields = (*_what, *_terms, "updated_at", "deleted_at")
