"""The accounts of providers in the admin site."""

from django.contrib import admin
from django.utils.translation import gettext_lazy

from plugins.admin_pages import ExportedAdmin
from plugins.csv_export import named
from plugins.sign_in.models import Identity


@admin.register(Identity)
class IdentityAdmin(ExportedAdmin):
    """Who logs in with which provider. What the provider calls them is theirs."""

    csv_columns = named("id", "user_id", "issuer", "created_at", "used_at")
    fields = ("user", "issuer", "created_at", "used_at")
    list_display = ("id", *fields)
    list_filter = ("issuer",)
    search_help_text = gettext_lazy("A person's e-mail or name")
