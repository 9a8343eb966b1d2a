"""Members in the admin site."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import F, Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_pages import RulesAdmin
from plugins.admin_tables import Columns, StateFilter
from plugins.support import csv_columns
from tripcompanion.adminsite.base import link
from trips.admin import caller_of, money_column
from trips.models import JournalEntry, Member
from trips.models.events import Event
from users.models import User

BALANCE = money_column("balance_minor", gettext_lazy("balance"))
# It is no column of the table; without this, sorting by it is an error.
BALANCE.admin_order_field = (
    F("paid_minor") - F("share_minor") + F("sent_minor") - F("received_minor")
)
SUMS = (
    BALANCE,
    money_column("paid_minor", gettext_lazy("paid")),
    money_column("share_minor", gettext_lazy("share")),
    money_column("sent_minor", gettext_lazy("sent")),
    money_column("received_minor", gettext_lazy("received")),
    money_column("owed_minor", gettext_lazy("owed")),
)


def with_adder(members: QuerySet[Member]) -> QuerySet[Member]:
    """Annotate `adder_id` and `adder_name`: who added the member last, or is the member.

    They are null if the service did it. Grouped, so that no plan reads the whole journal.
    """
    joining = (Event.MEMBER_ADDED, Event.MEMBER_JOINED, Event.GUEST_ADDED)
    of_member = {"trip": OuterRef(OuterRef("trip")), "object_id": OuterRef(OuterRef("user"))}
    last = JournalEntry.objects.filter(event__in=joining, **of_member).order_by()
    number = last.values("object_id").annotate(last=Max("number")).values("last")[:1]
    entry = JournalEntry.objects.filter(trip=OuterRef("trip"), number=Subquery(number))
    return members.annotate(
        adder_id=Subquery(entry.values("by")), adder_name=Subquery(entry.values("by__name"))
    )


@admin.display(description=gettext_lazy("added by"))
def added_by(member: Any) -> str:
    """Who added a member of `with_adder`, unless they joined by themselves."""
    if member.adder_id in {None, member.user_id}:
        return "-"
    adder = User(pk=member.adder_id, name=member.adder_name)
    return link(adder, adder.shown_name)


@admin.display(description=gettext_lazy("answered"), boolean=True)
def answered(member: Member) -> bool:
    """Whether the person has used the trip since somebody added them."""
    return member.introduced_by is None


MEMBER_COLUMNS: Columns = {
    gettext_lazy("role"): lambda member: link(member, member.get_role_display()),
    gettext_lazy("balance"): BALANCE,
    gettext_lazy("added by"): added_by,
    gettext_lazy("answered"): answered,
    gettext_lazy("joined at"): lambda member: member.joined_at,
    gettext_lazy("left at"): lambda member: member.left_at,
}


class MemberState(StateFilter):
    states: ClassVar = {
        "present": (gettext_lazy("present"), {"left_at": None}),
        "unanswered": (
            gettext_lazy("not answered"),
            {"left_at": None, "introduced_by__isnull": False},
        ),
        "left": (gettext_lazy("left"), {"left_at__isnull": False}),
    }


class MemberForm(forms.ModelForm):
    """Adds a member to a trip, or changes their role; a former member may be added again."""

    class Meta:
        model = Member
        fields = ("trip", "user", "role")

    def _get_validation_exclusions(self) -> set[str]:
        """Skip the uniqueness of trip and user, which `Member.add` checks."""
        return {*super()._get_validation_exclusions(), "trip"}


admin.site.unregister(Member)


@admin.register(Member)
class MemberAdmin(RulesAdmin):
    """Members: add, change the role, end the membership. The ledger maintains the sums."""

    form = MemberForm
    csv_columns = csv_columns.MEMBERS
    list_display = (
        *("id", "user", "trip", "role"),
        BALANCE,
        added_by,
        answered,
        "joined_at",
        "left_at",
    )
    list_filter = (MemberState, "role")
    autocomplete_fields = ("trip", "user")
    date_hierarchy = "joined_at"
    actions = ("end",)
    row_actions: ClassVar = {"end": gettext_lazy("End this membership")}
    shown_fields = (*SUMS, added_by, answered, "joined_at", "left_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Member]:
        return with_adder(Member.objects.all()).order_by(*self.ordering)

    def get_row_actions(self, request: HttpRequest, row: Member) -> Any:
        return self.row_actions if row.left_at is None else {}

    def get_fields(self, request: HttpRequest, obj: Member | None = None) -> Any:
        editable = ("trip", "user", "role")
        return (*editable, *self.shown_fields) if obj else editable

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("trip", "user", *self.shown_fields) if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: Member | None = None) -> bool:
        """A membership that has ended cannot be changed."""
        return (obj is None or obj.left_at is None) and super().has_change_permission(request)

    def save_model(self, request: HttpRequest, obj: Member, form: Any, change: bool) -> None:
        if change:
            obj.change_role(obj.role, by=caller_of(request))
            return
        member = Member.add(obj.trip, caller_of(request), role=obj.role, user_id=obj.user_id)
        obj.pk = member.pk

    @admin.action(permissions=["change"], description=gettext_lazy("End these memberships"))
    def end(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        present = list(queryset.filter(left_at=None).order_by("trip_id", "pk"))
        for member in present:
            member.remove(by=caller_of(request), on_behalf=True)
            self.log_change(request, member, gettext_lazy("Ended."))
        self.tell_count(request, _("Memberships ended: %(count)d."), len(present))
