"""Passkeys in the admin site, without their keys."""

from django.contrib import admin

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.passkeys.models import Passkey


@admin.register(Passkey)
class PasskeyAdmin(ExportedAdmin):
    """Who has passkeys, and which were blocked."""

    csv_columns = named("id", "user_id", "name", "created_at", "used_at", "blocked_at")
    fields = ("user", "name", "created_at", "used_at", "blocked_at")
    list_display = ("id", *fields)
