"""Trips and members in the admin site, and how an account is deleted there.

The trip's page shows its expenses too, so `splits.admin` adds them and registers it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from tripcompanion.kit.currencies import Amount, to_major
from tripcompanion.kit.serializers import AmountField, UrlOrPath
from trips.models import Member, Trip, close_account
from users.admin import (
    AccountAdmin,
    RulesAdmin,
    StateFilter,
    accounts_locked,
    as_the_api,
    list_link,
)
from users.models import User

#: Rows that a trip's page shows of each kind; the rest is a link away.
SHOWN_ROWS = 20


def _caller(request: HttpRequest) -> User:
    """Who is logged in: an ADMIN, for nobody else enters the admin site."""
    caller: Any = request.user
    return caller


def shown_money(amount_minor: int | None, currency: str) -> str:
    """Major units with the currency (`12.30 EUR`); a dash for what is not there."""
    if amount_minor is None:
        return "-"
    return f"{to_major(amount_minor, currency):f}\N{NO-BREAK SPACE}{currency}"


def money_column(name: str, label: Any) -> Any:
    """A column with the minor units `name` of a row that belongs to a trip, for lists and pages."""

    @admin.display(description=label)
    def column(row: Any) -> str:
        return shown_money(getattr(row, name), row.trip.currency)

    return column


BALANCE = money_column("balance_minor", _("balance"))
SUMS = (
    BALANCE,
    money_column("paid_minor", _("paid")),
    money_column("share_minor", _("share")),
    money_column("sent_minor", _("sent")),
    money_column("received_minor", _("received")),
    money_column("owed_minor", _("owed")),
)


def link(row: Model, label: Any = None) -> str:
    """A link to the page of `row`."""
    opts = row._meta
    url = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', url, label or row)


def person(name: str, label: Any) -> Any:
    """A column with a link to the account `name` of a row."""

    @admin.display(description=label, ordering=f"{name}__name")
    def column(row: Any) -> str:
        user = getattr(row, name)
        return link(user, user.name)

    return column


Columns = Mapping[Any, Callable[[Any], Any]]


def table(rows: Iterable[Any], columns: Columns) -> str:
    """Rows of another model on a page, to look at. `columns` maps heads to questions to a row."""
    lines = []
    for row in rows:
        values = [question(row) for question in columns.values()]
        shown = [(display_for_value(value, "-", isinstance(value, bool)),) for value in values]
        lines.append((format_html_join("", "<td>{}</td>", shown),))
    return format_html(
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>",
        format_html_join("", "<th>{}</th>", ((head,) for head in columns)),
        format_html_join("", "<tr>{}</tr>", lines),
    )


def first_rows(rows: QuerySet, columns: Columns, **narrowed: Any) -> str:
    """The first of `rows`, and a link to all of them: their list, `narrowed`."""
    label = _now("all %(count)d") % {"count": rows.count()}
    shown = table(rows[:SHOWN_ROWS], columns)
    return format_html("<div>{}<p>{}</p></div>", shown, list_link(rows.model, label, **narrowed))


MEMBER_COLUMNS: Columns = {
    _("role"): lambda member: link(member, member.role),
    _("balance"): BALANCE,
    _("joined at"): lambda member: member.joined_at,
    _("left at"): lambda member: member.left_at,
}


@admin.register(User)
class ClosableAccountAdmin(AccountAdmin):
    """Accounts, with their trips. Deleting one empties it and keeps what others rely on."""

    readonly_fields = (*AccountAdmin.readonly_fields, "trips")

    @admin.display(description=_("trips"))
    def trips(self, user: User) -> str:
        columns = {_("trip"): lambda member: link(member.trip), **MEMBER_COLUMNS}
        rows = user.memberships.select_related("trip").order_by("-id")
        return first_rows(rows, columns, user__id__exact=user.pk)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        return (*fieldsets, (_("Trips"), {"fields": ("trips",)})) if obj else fieldsets

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What the page that asks for confirmation says: (lines, counts, lacking, protected)."""
        lines = [
            _now("%(user)s: name, e-mail, password, log-ins and memberships. Expenses stay.")
            % {"user": user}
            for user in objs
        ]
        return lines, {User._meta.verbose_name_plural: len(lines)}, set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        by: Any = request.user
        close_account(obj, by=by, as_admin=True)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by: Any = request.user
        for user in accounts_locked(request, queryset.filter(deleted_at=None)):
            close_account(user, by=by, as_admin=True)


class TripForm(forms.ModelForm):
    """A trip, by the rules of the API; the budget in major units."""

    budget = forms.DecimalField(required=False, help_text=_("In the currency of the trip."))

    class Meta:
        model = Trip
        fields = (
            "title",
            "destination",
            "description",
            "image_url",
            "start_date",
            "end_date",
            "currency",
            "join_role",
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.budget_minor is not None:
            self.initial["budget"] = to_major(self.instance.budget_minor, self.instance.currency)

    def clean_image_url(self) -> str | None:
        url = self.cleaned_data["image_url"]
        return as_the_api(UrlOrPath(), url) if url else None

    def clean_budget(self) -> Any:
        budget = self.cleaned_data["budget"]
        return None if budget is None else as_the_api(AmountField(), budget)

    def clean(self) -> None:
        super().clean()
        start, end = self.cleaned_data.get("start_date"), self.cleaned_data.get("end_date")
        if start and end and end < start:
            self.add_error("end_date", _("Must not be before the start date."))

    def changes(self) -> dict[str, Any]:
        """What `Trip.change` takes. A new currency means the budget's number in it."""
        changes = {name: self.cleaned_data[name] for name in self.changed_data}
        budget = changes.get("budget")
        if budget is not None:
            changes["budget"] = Amount(budget, self.cleaned_data["currency"])
        return changes


class TripAdmin(RulesAdmin):
    """Trips: look up and correct. They are made, and deleted, through the API."""

    form = TripForm
    list_display = ("title", "destination", "start_date", "end_date", "currency", "member_count")
    list_filter = (("currency", admin.AllValuesFieldListFilter), "join_role")
    search_fields = ("title", "destination", "=code", "members__user__email")
    date_hierarchy = "start_date"
    ordering = ("-start_date", "-id")
    readonly_fields: ClassVar[Any] = ("code", "members", "created_at", "updated_at")
    fieldsets: ClassVar[Any] = (
        (None, {"fields": ("title", "destination", "description", "image_url")}),
        (_("When"), {"fields": (("start_date", "end_date"),)}),
        (_("Money"), {"fields": ("currency", "budget")}),
        (_("Joining"), {"fields": ("code", "join_role")}),
        (_("Members"), {"fields": ("members",)}),
        (_("History"), {"fields": (("created_at", "updated_at"),)}),
    )
    actions = ("renew_codes",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trip]:
        # Counted aside: a search by member would multiply a joined count.
        present = Member.objects.present().filter(trip=OuterRef("pk")).order_by().values("trip")
        count = Subquery(present.annotate(count=Count("pk")).values("count"))
        return super().get_queryset(request).annotate(member_count=Coalesce(count, 0))

    def get_readonly_fields(self, request: HttpRequest, obj: Trip | None = None) -> Any:
        """Recorded money is in the trip's currency, so that stands from then on."""
        fixed = ("currency", "budget") if obj is not None and obj.has_entries else ()
        return (*self.readonly_fields, *fixed)

    @admin.display(description=_("members"), ordering="member_count")
    def member_count(self, trip: Any) -> int:
        return trip.member_count

    @admin.display(description=_("budget"))
    def budget(self, trip: Trip) -> str:
        return shown_money(trip.budget_minor, trip.currency)

    @admin.display(description=_("members"))
    def members(self, trip: Trip) -> str:
        columns = {_("who"): person("user", ""), **MEMBER_COLUMNS}
        rows = trip.members.select_related("user", "trip")
        return first_rows(rows, columns, trip__id__exact=trip.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Trip, form: Any, change: bool) -> None:
        changes = form.changes()
        if changes:
            obj.change(_caller(request), **changes)

    @admin.action(permissions=["change"], description=_("Give new codes; the old ones are dead"))
    def renew_codes(self, request: HttpRequest, queryset: QuerySet[Trip]) -> None:
        for trip in queryset:
            trip.renew_code(by=_caller(request))
            self.log_change(request, trip, "New code.")


class MemberState(StateFilter):
    states: ClassVar = {
        "present": (_("present"), {"left_at": None}),
        "left": (_("left"), {"left_at__isnull": False}),
    }


class MemberForm(forms.ModelForm):
    """Who is in which trip, with which role; somebody who left may come again."""

    class Meta:
        model = Member
        fields = ("trip", "user", "role")

    def _get_validation_exclusions(self) -> set[str]:
        """Leaves the pair alone: `Trip.admit` knows who is a member already."""
        return {*super()._get_validation_exclusions(), "trip"}  # type: ignore[misc]


@admin.register(Member)
class MemberAdmin(RulesAdmin):
    """Members: add, give another role, end a membership. The sums are the book's."""

    form = MemberForm
    list_display = ("id", person("user", _("who")), "trip", "role", BALANCE, "joined_at", "left_at")
    list_filter = (MemberState, "role")
    list_select_related = ("user", "trip")
    search_fields = ("user__email", "user__name", "trip__title")
    autocomplete_fields = ("trip", "user")
    date_hierarchy = "joined_at"
    ordering = ("-id",)
    actions = ("end",)

    def get_fields(self, request: HttpRequest, obj: Member | None = None) -> Any:
        made = ("trip", "user", "role")
        return (*made, *SUMS, "joined_at", "left_at") if obj else made

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("trip", "user", *SUMS, "joined_at", "left_at") if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Member | None = None) -> bool:
        """A membership that ended stays as it is."""
        return (obj is None or obj.left_at is None) and super().has_change_permission(request)

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        if change:
            obj.change_role(obj.role, by=_caller(request))
            return
        made = obj.trip.add_member(_caller(request), role=obj.role, user_id=obj.user_id)
        obj.pk = made.pk

    @admin.action(permissions=["change"], description=_("End these memberships"))
    def end(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        for member in queryset.filter(left_at=None).order_by("trip_id", "pk"):
            member.remove(by=_caller(request))
            self.log_change(request, member, "Ended.")
