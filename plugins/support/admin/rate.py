"""Exchange rates in the admin site."""

from django.contrib import admin

from plugins.support import csv_columns
from splits.models import DailyRate, Rate
from tripcompanion.adminsite.base import ReadOnlyAdmin


@admin.register(Rate)
class RateAdmin(ReadOnlyAdmin):
    csv_columns = csv_columns.RATES
    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    ordering = ("currency",)


@admin.register(DailyRate)
class DailyRateAdmin(ReadOnlyAdmin):
    csv_columns = csv_columns.RATES
    list_display = ("currency", "per_euro", "day")
    search_fields = ("currency",)
    list_filter = ("currency",)
    date_hierarchy = "day"
    ordering = ("-day", "currency")
