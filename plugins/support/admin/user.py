"""Accounts in the admin site."""

from functools import partial
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminEmailInputWidget
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import SetPasswordMixin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import path
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException

from plugins.admin_pages import RulesAdmin
from plugins.admin_tables import StateFilter, first_rows, list_link
from plugins.csv_export import named
from plugins.personal_data.export import archive_of
from plugins.support.admin.fields import as_the_api
from plugins.support.admin.member import BALANCE, MEMBER_COLUMNS, with_adder
from plugins.support.admin.session import accounts_locked
from tripcompanion.adminsite.base import link, page_url
from tripcompanion.api.problems import Conflict
from tripcompanion.api.serializers import StrictText, UrlOrPath
from tripcompanion.database.snapshots import snapshot
from trips.admin import caller_of
from trips.deletion import delete_account
from trips.models import Member, show_addresses_to
from trips.roles import OWNER_ROLES
from users.emails import email_key
from users.models import EmailTaken, Session, User
from users.serializers.account import EmailAddress, NewPassword


class LastActiveAdmin(Conflict):
    """409 `last_admin`: at least one administrator must remain active."""

    default_code = "last_admin"
    default_detail = gettext_lazy("The last active administrator cannot be demoted or deactivated.")


class AccountForm(SetPasswordMixin, forms.ModelForm):
    """An account, validated as in the API."""

    password1, password2 = SetPasswordMixin.create_password_fields()

    class Meta:
        model = User
        fields = ("email", "name", "profile_picture", "currency", "role", "is_active")
        widgets: ClassVar = {"email": AdminEmailInputWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("password1", "password2"):
            # An existing account keeps its password if none is entered.
            self.fields[name].required = self.instance.pk is None

    def clean_email(self) -> str:
        email = as_the_api(EmailAddress(), self.cleaned_data["email"])
        others = User.objects.exclude(pk=self.instance.pk)
        if others.filter(email_key=email_key(email)).exists():
            raise ValidationError(EmailTaken.default_detail, EmailTaken.default_code)
        return email

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        # A default name, such as "x" of x@example.com, may be shorter than the API accepts.
        if name == (self.instance.name if self.instance.pk else ""):
            return name
        return as_the_api(StrictText(min_length=2), name)

    def clean_profile_picture(self) -> str | None:
        picture = self.cleaned_data["profile_picture"]
        return as_the_api(UrlOrPath(), picture) if picture else None

    def clean_password1(self) -> str:
        password = self.cleaned_data["password1"]
        return as_the_api(NewPassword(), password) if password else ""

    def clean(self) -> None:
        super().clean()
        typed = self.cleaned_data
        if typed.get("password1") is not None and typed["password1"] != typed.get("password2"):
            self.add_error("password2", self.error_messages["password_mismatch"])
        if self.instance.is_admin and not (typed.get("is_active") and typed.get("role") == "ADMIN"):
            try:
                self.instance.require_other_admin(LastActiveAdmin)
            except LastActiveAdmin as refusal:
                raise ValidationError(str(refusal)) from refusal


class AccountState(StateFilter):
    states: ClassVar = {
        "active": (gettext_lazy("active"), {"is_active": True}),
        "deactivated": (
            gettext_lazy("deactivated"),
            {"is_active": False, "deleted_at": None, "is_guest": False},
        ),
        "deleted": (gettext_lazy("deleted"), {"deleted_at__isnull": False}),
        "guests": (gettext_lazy("guests"), {"is_guest": True}),
    }


admin.site.unregister(User)


@admin.register(User)
class UserAdmin(RulesAdmin):
    """Accounts: search, create, change, deactivate and delete.

    Deleting an account erases its personal data; its entries stay for others. Guests are listed
    with their trip, and can only be changed there.
    """

    form = AccountForm
    csv_columns = named(
        *("id", "email", "name", "role", "currency", "is_active", "is_guest"),
        *("email_verified_at", "last_login", "created_at", "updated_at", "deleted_at"),
    )
    list_display = ("email", "name", "role", "is_active", "created_at")
    list_display_links = ("email", "name")
    list_filter = (AccountState, "role")
    search_fields = ("email", "name")
    date_hierarchy = "created_at"
    readonly_fields: ClassVar[Any] = (
        *("log_ins", "email_verified_at", "created_at", "updated_at", "deleted_at"),
        *("is_guest", "trips"),
    )
    actions = ("deactivate", "activate", "send_reset_links", "confirm_addresses", "log_out")
    row_actions: ClassVar = {
        "send_reset_links": gettext_lazy("Send a reset link"),
        "confirm_addresses": gettext_lazy("Confirm the address"),
        "log_out": gettext_lazy("End all sessions"),
    }

    def get_row_actions(self, request: HttpRequest, row: User) -> Any:
        if not row.is_active:
            return {}
        done = {"confirm_addresses"} if row.email_verified_at else set()
        return {name: label for name, label in self.row_actions.items() if name not in done}

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.data_view)
        return [path("<int:user_id>/data/", view, name="users_user_data"), *super().get_urls()]

    def get_row_links(self, request: HttpRequest, row: User) -> Any:
        is_account = self.has_change_permission(request, row)
        return {page_url(User, "data", row.pk): _("Personal data")} if is_account else {}

    def data_view(self, request: HttpRequest, user_id: int) -> HttpResponseBase:
        """The personal export, as the person can download it."""
        user = self.get_object(request, str(user_id))
        if user is None or not self.has_change_permission(request, user):
            raise Http404
        show_addresses_to(user)
        try:
            with snapshot():
                file = archive_of(user)
        except APIException as refusal:
            self.show_refusal(request, refusal)
            return HttpResponseRedirect(page_url(User, "change", user.pk))
        finally:
            show_addresses_to(None)
        self.log_change(request, user, gettext_lazy("Personal data exported."))
        return FileResponse(file, as_attachment=True, filename=f"trip-companion-{user.pk}.zip")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        password = (_("Password"), {"fields": ("password1", "password2")})
        profile = (_("Profile"), {"fields": ("name", "profile_picture", "currency")})
        if obj is None:
            return (None, {"fields": ("email", "role")}), password, profile
        account = (None, {"fields": ("email", "role", "is_active")})
        history = (_("History"), {"fields": UserAdmin.readonly_fields[:-2]})
        trips = (_("Trips"), {"fields": ("trips",)})
        if obj.is_guest:
            return (None, {"fields": ("name", "is_guest", "created_at")}), trips
        if obj.deleted_at:
            return history, trips
        new_password = (_("New password"), {**password[1], "classes": ("collapse",)})
        return account, profile, history, new_password, trips

    @admin.display(description=gettext_lazy("sessions"))
    def log_ins(self, user: User) -> str:
        label = _("%(count)d active") % {"count": user.sessions.active().count()}
        return list_link(Session, label, user__id__exact=user.pk)

    @admin.display(description=gettext_lazy("trips"))
    def trips(self, user: User) -> str:
        columns = {_("trip"): lambda member: link(member.trip), **MEMBER_COLUMNS}
        rows = with_adder(user.memberships.all()).select_related("trip").order_by("-id")
        return first_rows(rows, columns, user__id__exact=user.pk)

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """Refuse lookups by password, which would reveal the hash character by character."""
        return not lookup.startswith("password") and super().lookup_allowed(lookup, value, request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Deleted accounts cannot be changed, nor can guests, who have no account."""
        is_account = obj is None or (obj.deleted_at is None and not obj.is_guest)
        return is_account and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """The contents of the confirmation page: (lines, counts, lacking, protected)."""
        lines: list[Any] = [
            _("%(user)s: name, e-mail, password, sessions and memberships. Expenses stay.")
            % {"user": user}
            for user in objs
        ]
        counts = {User._meta.verbose_name_plural: len(lines)}
        unsettled = Member.objects.filter(user__in=objs).in_kept_trips().unsettled()
        rows = unsettled.select_related("user", "trip").order_by("user", "trip")
        if open_balances := [
            format_html("{}, {}: {}", row.user.shown_name, link(row.trip), BALANCE(row))
            for row in rows
        ]:
            lines += [
                _("Balances that are still open; nobody can settle them then:"),
                open_balances,
            ]
            if "post" not in request.POST:
                text = _("There are open balances: %(count)d. They are listed below.")
                self.message_user(request, text % {"count": len(open_balances)}, messages.WARNING)
        return lines, counts, set(), []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(obj, by=caller_of(request), as_admin=True)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by = caller_of(request)
        for user in accounts_locked(request, queryset.filter(deleted_at=None, is_guest=False)):
            delete_account(user, by=by, as_admin=True)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in form.changed_data}
        given.pop("password2", None)
        password, is_active = given.pop("password1", None), given.pop("is_active", None)
        if not change:
            created = User.register(given.pop("email"), password, given.pop("name", ""))
            obj.pk = created.pk
            obj = created
        elif password:
            given["password"] = obj.hashed(password)
        by = caller_of(request)
        with obj.locked(by=by, as_admin=True, lock_admins=True) as account:
            if account.is_admin and (is_active is False or given.get("role", "ADMIN") != "ADMIN"):
                account.require_other_admin(LastActiveAdmin)
            if given:
                account.change(by=by, **given)
            if is_active is not None:
                account.change(by=by, is_active=True) if is_active else account.deactivate(by=by)
        if is_active is False:
            self._tell_of_trips(request, obj)
        if password and obj.pk == request.user.pk:
            update_session_auth_hash(request, obj)

    def _tell_of_trips(self, request: HttpRequest, user: User) -> None:
        """Warn if no OWNER of a trip is left who can log in."""
        others = Member.objects.owners().exclude(user=user)
        own = Member.objects.present().filter(user=user, role__in=OWNER_ROLES)
        alone = own.exclude(trip__in=others.values("trip")).order_by("trip")
        if ids := ", ".join(map(str, alone.values_list("trip", flat=True))):
            text = _("These trips have no owner any more who can log in: %(ids)s.")
            self.message_user(request, text % {"ids": ids}, messages.WARNING)

    def _do_to_each(
        self, request: HttpRequest, rows: QuerySet[User], do: Any, logged: Any, told: Any
    ) -> None:
        """Call `do(account, by=...)` with each account, locked; log it, and tell their number."""
        by, users = caller_of(request), accounts_locked(request, rows)
        for user in users:
            self.log_change(request, user, logged)
            with user.locked(by=by, as_admin=True) as account:
                do(account, by=by)
        self.tell_count(request, told, len(users))

    @admin.action(
        permissions=["change"], description=gettext_lazy("Deactivate, and end all sessions")
    )
    def deactivate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        def end(account: User, by: User) -> None:
            if account.is_admin:
                account.require_other_admin(LastActiveAdmin)
            account.deactivate(by=by)
            self._tell_of_trips(request, account)

        told = gettext_lazy("Deactivated."), _("Accounts deactivated: %(count)d.")
        self._do_to_each(request, queryset.filter(is_active=True), end, *told)

    @admin.action(permissions=["change"], description=gettext_lazy("Reactivate"))
    def activate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        rows = queryset.filter(is_active=False, deleted_at=None, is_guest=False)
        told = gettext_lazy("Reactivated."), _("Accounts reactivated: %(count)d.")
        self._do_to_each(request, rows, partial(User.change, is_active=True), *told)

    @admin.action(
        permissions=["change"], description=gettext_lazy("Send a link to reset the password")
    )
    def send_reset_links(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        told = gettext_lazy("Reset link sent."), _("Reset links on their way: %(count)d.")
        self._do_to_each(request, queryset.filter(is_active=True), User.ask_for_reset, *told)

    @admin.action(
        permissions=["change"], description=gettext_lazy("Mark the addresses as confirmed")
    )
    def confirm_addresses(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        rows = queryset.filter(is_active=True, email_verified_at=None)
        told = gettext_lazy("Address confirmed."), _("Addresses confirmed: %(count)d.")
        self._do_to_each(request, rows, lambda account, by: account.verify_email(), *told)

    @admin.action(permissions=["change"], description=gettext_lazy("End all sessions"))
    def log_out(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """End the sessions of the API and of browsers; scoped tokens stay valid."""
        told = gettext_lazy("All sessions ended."), _("Accounts logged out: %(count)d.")
        self._do_to_each(request, queryset.filter(is_active=True), User.log_out_everywhere, *told)
