"""Comments in the admin site."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.comments.models import Comment
from plugins.csv_export import named


@admin.register(Comment)
class CommentAdmin(ExportedAdmin):
    csv_columns = {
        **named("id", "expense_id"),
        "expense": "expense__description",
        "created_by_id": "created_by_id",
        "created_by_name": "created_by__name",
        **named("text", "created_at", "updated_at"),
    }
    list_display = ("id", "created_at", "created_by", "expense", "text")
    search_fields = ("text", "expense__description")
    search_help_text = gettext_lazy("A text, an expense, or the author's e-mail or name")
    date_hierarchy = "created_at"
    readonly_fields = ("expense", "created_by", "text", "created_at", "updated_at")

    def get_queryset(self, request: HttpRequest) -> Any:
        return Comment.objects.with_expense().order_by(*self.ordering)
