"""Trips and their members in the admin site, read-only, and columns for rows of a trip."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from tripcompanion.adminsite.base import ReadOnlyAdmin, link
from tripcompanion.currency.formats import format_amount, in_order
from trips.models import Member, Trip
from users.models import User, Via


def caller_of(request: HttpRequest) -> User:
    """The administrator who sent the request."""
    caller: Any = request.user
    caller.via = Via.ADMIN
    return caller


def trip_currency(row: Any) -> str:
    return row.trip.currency


def money_column(
    name: str, label: Any, currency_of: Callable[[Any], str] = trip_currency, **options: Any
) -> Any:
    """An admin column for the amount `name` of a row, in minor units, aligned by its class.

    It is sorted by the amount, unless `options` say otherwise.
    """
    options = {"ordering": in_order(name, "trip__currency")} | options

    @admin.display(description=label, **options)
    def column(row: Any) -> str:
        return format_amount(getattr(row, name), currency_of(row))

    # The class of the cells in a list contains this name; `admin.css` uses it to align them.
    column.__name__ = name
    column.is_amount = True
    return column


def person(name: str, label: Any) -> Any:
    """An admin column with a link to the user `name` of a row."""

    @admin.display(description=label, ordering=f"{name}__name")
    def column(row: Any) -> str:
        user = getattr(row, name)
        return link(user, user.shown_name)

    return column


@admin.register(Trip)
class TripAdmin(ReadOnlyAdmin):
    list_display = fields = ("title", "destination", "start_date", "end_date", "currency")
    search_fields = ("title", "destination")
    ordering = ("-start_date", "-id")


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    list_display = fields = (
        "id",
        person("user", gettext_lazy("user")),
        "trip",
        "role",
        money_column("balance_minor", gettext_lazy("balance")),
        "joined_at",
        "left_at",
    )
    list_select_related = ("user", "trip")
    search_fields = ("user__email", "user__name", "trip__title")
