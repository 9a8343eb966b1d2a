"""Trips in the admin site, with their members and expenses."""

from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import RulesAdmin
from plugins.admin_tables import Columns, StateFilter, first_rows, formatted, list_link, table
from plugins.history.report import History
from plugins.support import csv_columns
from plugins.support.admin.fields import as_the_api
from plugins.support.admin.ledger import AMOUNT, journal_table
from plugins.support.admin.member import MEMBER_COLUMNS, with_adder
from splits.models import Category, Debt, DeletedEntry, Expense, Settlement
from splits.reports.audit import differences
from splits.reports.balances import Plan
from tripcompanion.adminsite.base import link, page_url
from tripcompanion.api.serializers import UrlOrPath
from tripcompanion.currency.amounts import Amount, to_major
from tripcompanion.currency.fields import AmountField
from tripcompanion.currency.formats import format_amount
from tripcompanion.plugin import plugins
from trips.admin import caller_of, person
from trips.models import Member, Trip

TRANSFER_COLUMNS: Columns = {
    gettext_lazy("sender"): person("sender", ""),
    gettext_lazy("receiver"): person("receiver", ""),
    gettext_lazy("amount"): AMOUNT,
}

#: The fields of a form with the budget of each category.
BUDGET_FIELDS = {f"budget_{category.lower()}": category.value for category in Category}


class TripState(StateFilter):
    states: ClassVar = {
        "kept": (gettext_lazy("not deleted"), {"deleted_at": None}),
        "deleted": (gettext_lazy("deleted"), {"deleted_at__isnull": False}),
    }


class BudgetField(forms.DecimalField):
    """A budget in major units, or None; validated as in the API."""

    def clean(self, value: Any) -> Decimal | None:
        budget = super().clean(value)
        return None if budget is None else as_the_api(AmountField(), budget)


class TripForm(forms.ModelForm):
    """A trip, validated as in the API, with its budgets in major units."""

    budget = BudgetField(required=False, help_text=gettext_lazy("In the currency of the trip."))

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
        budgets = self.instance.category_budgets or {}
        self.initial.update({name: budgets.get(key) for name, key in BUDGET_FIELDS.items()})

    def clean_image_url(self) -> str | None:
        url = self.cleaned_data["image_url"]
        return as_the_api(UrlOrPath(), url) if url else None

    def clean(self) -> None:
        super().clean()
        start, end = self.cleaned_data.get("start_date"), self.cleaned_data.get("end_date")
        if start and end and end < start:
            self.add_error("end_date", _("Must not be before the start date."))

    def changes(self) -> dict[str, Any]:
        """The arguments of `Trip.change`. Submitted budgets are in the submitted currency."""
        changes = {name: self.cleaned_data[name] for name in self.changed_data}
        currency = self.cleaned_data.get("currency", self.instance.currency)
        budget = changes.get("budget")
        if budget is not None:
            changes["budget"] = Amount(budget, currency)
        if BUDGET_FIELDS.keys() & changes.keys():
            changes = {name: changes[name] for name in changes if name not in BUDGET_FIELDS}
            entered = {key: self.cleaned_data[name] for name, key in BUDGET_FIELDS.items()}
            changes["category_budgets"] = {
                key: Amount(value, currency) for key, value in entered.items() if value is not None
            }
        return changes


TripForm.declared_fields.update(
    {
        name: BudgetField(required=False, label=capfirst(Category(key).label))
        for name, key in BUDGET_FIELDS.items()
    }
)


def _boxes() -> list[Any]:
    return [box for app in plugins() for box in app.trip_boxes()]


admin.site.unregister(Trip)


@admin.register(Trip)
class TripAdmin(RulesAdmin):
    """Trips: search, change, audit and delete. They are created through the API."""

    form = TripForm
    csv_columns = csv_columns.TRIPS
    list_display = (
        *("title", "destination", "start_date", "end_date", "currency", "member_count"),
        "deleted_at",
    )
    list_filter = (TripState, ("currency", admin.AllValuesFieldListFilter), "join_role")
    search_fields = ("title", "destination", "=code", "members__user__email")
    date_hierarchy = "start_date"
    ordering = ("-start_date", "-id")
    readonly_fields: ClassVar[Any] = (
        *("code", "members", "expenses"),
        *("plan", "settlements", "other_lists"),
        *("journal", "created_at", "updated_at", "deleted_at"),
    )
    fieldsets: ClassVar[Any] = (
        (None, {"fields": ("title", "destination", "description", "image_url")}),
        (gettext_lazy("Dates"), {"fields": (("start_date", "end_date"),)}),
        (gettext_lazy("Money"), {"fields": ("currency", "budget")}),
        (gettext_lazy("Budgets by category"), {"fields": (tuple(BUDGET_FIELDS),)}),
        (gettext_lazy("Joining"), {"fields": ("code", "join_role")}),
        (gettext_lazy("Members"), {"fields": ("members",)}),
        (gettext_lazy("Expenses"), {"fields": ("expenses",)}),
        (gettext_lazy("Settling up"), {"fields": ("plan", "settlements", "other_lists")}),
        (
            gettext_lazy("History"),
            {"fields": ("journal", ("created_at", "updated_at", "deleted_at"))},
        ),
    )
    actions = ("renew_codes", "restore")
    row_actions: ClassVar = {"renew_codes": gettext_lazy("Renew the code")}
    delete_confirmation_template = "admin/delete_trip.html"

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.audit_view)
        return [path("<int:trip_id>/audit/", view, name="trips_trip_audit"), *super().get_urls()]

    def get_row_actions(self, request: HttpRequest, row: Trip) -> Any:
        return self.row_actions if row.deleted_at is None else {"restore": _("Restore this trip")}

    def has_change_permission(self, request: HttpRequest, obj: Trip | None = None) -> bool:
        """A deleted trip can only be restored."""
        is_kept = obj is None or obj.deleted_at is None
        return is_kept and super().has_change_permission(request)

    def get_row_links(self, request: HttpRequest, row: Trip) -> Any:
        return {page_url(Trip, "audit", row.pk): _("Audit")}

    def logged_as(self, row: Trip) -> str:
        return row.title

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trip]:
        # A subquery, because a search by member would multiply a joined count.
        present = Member.objects.present().filter(trip=OuterRef("pk")).order_by().values("trip")
        count = Subquery(present.annotate(count=Count("pk")).values("count"))
        return super().get_queryset(request).annotate(member_count=Coalesce(count, 0))

    def get_fieldsets(self, request: HttpRequest, obj: Trip | None = None) -> Any:
        """What plugins show comes below the expenses."""
        return [
            (title, {"fields": (*of["fields"], *_boxes())} if "expenses" in of["fields"] else of)
            for title, of in self.fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Trip | None = None) -> Any:
        """Currency and budget are read-only once the trip has entries."""
        fixed = ("currency", "budget") if obj is not None and obj.has_entries else ()
        return (*self.readonly_fields, *_boxes(), *fixed)

    @admin.display(description=gettext_lazy("members"), ordering="member_count")
    def member_count(self, trip: Any) -> int:
        return trip.member_count

    @admin.display(description=gettext_lazy("budget"))
    def budget(self, trip: Trip) -> str:
        return format_amount(trip.budget_minor, trip.currency)

    @admin.display(description=gettext_lazy("members"))
    def members(self, trip: Trip) -> str:
        columns = {_("user"): person("user", ""), **MEMBER_COLUMNS}
        rows = with_adder(trip.members.all()).select_related("user", "trip")
        return first_rows(rows, columns, trip__id__exact=trip.pk)

    @admin.display(description=gettext_lazy("expenses"))
    def expenses(self, trip: Trip) -> str:
        columns = {
            _("date"): lambda expense: expense.expense_date,
            _("description"): link,
            _("amount"): AMOUNT,
            _("split type"): lambda expense: expense.get_split_type_display(),
            _("recorded by"): person("created_by", ""),
        }
        rows = trip.expenses.select_related("trip", "created_by").order_by("-expense_date", "-id")
        return first_rows(rows, columns, trip__id__exact=trip.pk)

    @admin.display(description=gettext_lazy("settlements"))
    def settlements(self, trip: Trip) -> str:
        columns = {_("date"): lambda row: link(row, formatted(row.settled_on)), **TRANSFER_COLUMNS}
        rows = trip.settlements.select_related("trip", "sender", "receiver")
        latest = rows.order_by("-settled_on", "-id")
        return first_rows(latest, columns, trip__id__exact=trip.pk)

    @admin.display(description=gettext_lazy("settle-up plan"))
    def plan(self, trip: Trip) -> str:
        transfers = Plan(trip).transfers
        return table(transfers, TRANSFER_COLUMNS) if transfers else _("All is settled.")

    @admin.display(description=gettext_lazy("see also"))
    def other_lists(self, trip: Trip) -> str:
        lists: Any = (Debt, DeletedEntry)
        links = [
            (list_link(m, m._meta.verbose_name_plural, trip__id__exact=trip.pk),) for m in lists
        ]
        return format_html_join(" · ", "{}", links)

    @admin.display(description=gettext_lazy("latest changes"))
    def journal(self, trip: Trip) -> str:
        return journal_table(History(trip), trip__id__exact=trip.pk)

    def audit_view(self, request: HttpRequest, trip_id: int) -> HttpResponse:
        """The differences between this trip's stored values and its entries; changes nothing."""
        trip = self.get_object(request, str(trip_id))
        if trip is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": trip,
            "title": _("Audit"),
            "subtitle": str(trip),
            "differences": list(differences(trip.pk)),
            "explanation": _(
                "Every share, debt, allocation and balance was recomputed from the entries."
            ),
            "clean": _("No difference was found."),
        }
        return TemplateResponse(request, "admin/audit.html", context)

    def has_delete_permission(self, request: HttpRequest, obj: Trip | None = None) -> bool:
        """Only from the page of a trip, where its title has to be typed."""
        return obj is not None and obj.deleted_at is None

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        trip = self.get_object(request, unquote(object_id))
        # Blanks around the title do not count.
        typed = request.POST.get("title", "").strip()
        if trip and request.method == "POST" and typed != trip.title.strip():
            self.message_user(request, _("Type the title exactly as it is."), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        labels = {
            "warning": _(
                "The trip is deleted for everybody, with all that was recorded in it. It can be "
                "restored for %(days)d days."
            )
            % {"days": settings.DELETED_TRIP_DAYS},
            "label": _("Type the title of the trip to confirm"),
        }
        return super().delete_view(request, object_id, {**labels, **(extra_context or {})})

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """The contents of the confirmation page, without reading the rows."""
        counted: Any = (Member, Expense, Settlement)
        counts = {
            model._meta.verbose_name_plural: model.objects.filter(trip__in=objs).count()
            for model in counted
        }
        return [str(trip) for trip in objs], counts, set(), []

    def delete_model(self, request: HttpRequest, obj: Trip) -> None:
        obj.remove(by=caller_of(request))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Trip, form: Any, change: bool) -> None:
        changes = form.changes()
        if changes:
            obj.change(caller_of(request), **changes)

    @admin.action(
        permissions=["change"], description=gettext_lazy("Renew the codes; old codes stop working")
    )
    def renew_codes(self, request: HttpRequest, queryset: QuerySet[Trip]) -> None:
        trips = list(queryset.order_by("pk"))
        for trip in trips:
            trip.renew_code(by=caller_of(request))
            self.log_change(request, trip, gettext_lazy("Code renewed."))
        self.tell_count(request, _("Codes renewed: %(count)d."), len(trips))

    @admin.action(permissions=["change"], description=gettext_lazy("Restore deleted trips"))
    def restore(self, request: HttpRequest, queryset: QuerySet[Trip]) -> None:
        deleted = list(queryset.filter(deleted_at__isnull=False).order_by("pk"))
        for trip in deleted:
            trip.restore(by=caller_of(request))
            self.log_change(request, trip, gettext_lazy("Restored."))
        self.tell_count(request, _("Trips restored: %(count)d."), len(deleted))
