"""Exchange rates in the admin site."""

from django.contrib import admin

from plugins.admin_pages import ExportedAdmin
from plugins.support import csv_columns
from splits.models import DailyRate, Rate


@admin.register(Rate)
class RateAdmin(ExportedAdmin):
    csv_columns = csv_columns.RATES
    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    ordering = ("currency",)


@admin.register(DailyRate)
class DailyRateAdmin(ExportedAdmin):
    csv_columns = csv_columns.RATES
    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    list_filter = ("currency",)
    date_hierarchy = "day"
    ordering = ("-day", "currency")
