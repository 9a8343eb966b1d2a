"""Accounts and log-ins in the admin site, and what all its pages stand on.

Deleting an account ends memberships, so `trips.admin` adds that and registers the page.
"""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.widgets import AdminEmailInputWidget
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.admin import GroupAdmin  # noqa: F401  it registers the groups
from django.contrib.auth.forms import SetPasswordMixin
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.exceptions import APIException

from tripcompanion.kit.problems import Conflict, flatten
from tripcompanion.kit.serializers import StrictText, UrlOrPath
from users.emails import email_key
from users.forms import LimitedAdminLogin
from users.models import EmailTaken, Mail, ScopedToken, Session, User
from users.serializers import EmailAddress, NewPassword

admin.site.site_header = admin.site.site_title = "Trip Companion"
admin.site.index_title = _("Administration")
admin.site.site_url = "/api/docs"
# There are no groups: roles are USER and ADMIN, and the roles of a trip.
admin.site.login_form = LimitedAdminLogin
admin.site.unregister(Group)


class LastActiveAdmin(Conflict):
    """Somebody must be left who can enter here."""

    default_code = "last_admin"
    default_detail = _("The last administrator must stay one, and active.")


def as_the_api(field: serializers.Field, value: Any) -> Any:
    """`value` by the rule that the API has for it; its refusal becomes the form's."""
    try:
        return field.run_validation(value)
    except serializers.ValidationError as refusal:
        texts = [text for _path, texts in flatten(refusal.detail) for text in texts]
        raise ValidationError(texts) from refusal


def list_link(model: type[Model], label: Any, **rows: Any) -> str:
    """A link to the list of `model`, narrowed to `rows`."""
    opts = model._meta
    url = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist", query=rows)
    return format_html('<a href="{}">{}</a>', url, label)


class RulesAdmin(admin.ModelAdmin):
    """Pages that write through the models' commands only; a refusal of theirs is a message."""

    show_full_result_count = False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().delete_view(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Do an action to all of the chosen rows, or to none."""
        try:
            with transaction.atomic():
                return super().response_action(request, *args, **kwargs)
        except APIException as refusal:
            return self._refused(request, refusal)

    def _refused(self, request: HttpRequest, refusal: APIException) -> HttpResponse:
        for _path, texts in flatten(refusal.detail):
            for text in texts:
                self.message_user(request, text, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False: what is here stands in somebody's books."""
        return False


class ReadOnlyAdmin(RulesAdmin):
    """Pages that show, and change nothing."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AccountForm(SetPasswordMixin, forms.ModelForm):
    """An account, by the rules of the API."""

    password1, password2 = SetPasswordMixin.create_password_fields()

    class Meta:
        model = User
        fields = ("email", "name", "profile_picture", "currency", "role", "is_active")
        widgets: ClassVar = {"email": AdminEmailInputWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("password1", "password2"):
            # An account that exists keeps its password if none is typed in.
            self.fields[name].required = self.instance.pk is None

    def clean_email(self) -> str:
        email = as_the_api(EmailAddress(), self.cleaned_data["email"])
        others = User.objects.exclude(pk=self.instance.pk)
        if others.filter(email_key=email_key(email)).exists():
            raise ValidationError(EmailTaken.default_detail, EmailTaken.default_code)
        return email

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        # Who registered as x@example.com is called "x", and need not be renamed here.
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


class StateFilter(admin.SimpleListFilter):
    """Rows by state: `states` maps the word in the URL to a label and to what it takes."""

    title = _("state")
    parameter_name = "state"
    states: ClassVar[dict[str, tuple[Any, dict[str, Any]]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(word, label) for word, (label, _conditions) in self.states.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        _label, conditions = self.states.get(self.value() or "", ("", {}))
        return queryset.filter(**conditions)


class AccountState(StateFilter):
    states: ClassVar = {
        "active": (_("active"), {"is_active": True}),
        "barred": (_("barred"), {"is_active": False, "deleted_at": None}),
        "deleted": (_("deleted"), {"deleted_at__isnull": False}),
    }


class SessionState(StateFilter):
    states: ClassVar = {
        "alive": (_("alive"), {"ended_at": None, "expires_at__gt": Now()}),
        "ended": (_("ended"), {"ended_at__isnull": False}),
    }


class MailState(StateFilter):
    states: ClassVar = {
        "waiting": (_("waiting"), {"given_up_at": None}),
        "given_up": (_("given up"), {"given_up_at__isnull": False}),
    }


class AccountAdmin(RulesAdmin):
    """Accounts: look up, make, change, bar and let in again."""

    form = AccountForm
    list_display = ("email", "name", "role", "is_active", "created_at")
    list_display_links = ("email", "name")
    list_filter = (AccountState, "role")
    search_fields = ("email", "name")
    date_hierarchy = "created_at"
    ordering = ("-id",)
    readonly_fields: ClassVar[Any] = (
        *("log_ins", "email_verified_at", "created_at", "updated_at", "deleted_at"),
    )
    actions = ("deactivate", "activate")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        password = (_("Password"), {"fields": ("password1", "password2")})
        profile = (_("Profile"), {"fields": ("name", "profile_picture", "currency")})
        if obj is None:
            return (None, {"fields": ("email", "role")}), password, profile
        account = (None, {"fields": ("email", "role", "is_active")})
        history = (_("History"), {"fields": AccountAdmin.readonly_fields})
        if obj.deleted_at:
            return (history,)
        new_password = (_("New password"), {**password[1], "classes": ("collapse",)})
        return account, profile, history, new_password

    @admin.display(description=_("log-ins"))
    def log_ins(self, user: User) -> str:
        label = _now("%(count)d alive") % {"count": user.sessions.live().count()}
        return list_link(Session, label, user__id__exact=user.pk)

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        """No searching for hashes, letter by letter."""
        return not lookup.startswith("password") and super().lookup_allowed(lookup, value, request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """A deleted account stays as it is."""
        return (obj is None or obj.deleted_at is None) and super().has_change_permission(request)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        given = {name: form.cleaned_data[name] for name in form.changed_data}
        given.pop("password2", None)
        password, is_active = given.pop("password1", None), given.pop("is_active", None)
        if not change:
            made = User.register(given.pop("email"), password, given.pop("name", ""))
            obj.pk = made.pk
            obj = made
        elif password:
            given["password"] = obj.hashed(password)
        by: Any = request.user
        with obj.locked(by=by, as_admin=True, lock_admins=True) as account:
            if account.is_admin and (is_active is False or given.get("role", "ADMIN") != "ADMIN"):
                account.require_other_admin(LastActiveAdmin)
            if given:
                account.change(by=by, **given)
            if is_active is not None:
                account.change(by=by, is_active=True) if is_active else account.deactivate(by=by)
        if password and obj.pk == request.user.pk:
            update_session_auth_hash(request, obj)

    @admin.action(permissions=["change"], description=_("Bar, and end all log-ins"))
    def deactivate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by: Any = request.user
        for user in accounts_locked(request, queryset.filter(is_active=True)):
            with user.locked(by=by, as_admin=True) as account:
                if account.is_admin:
                    account.require_other_admin(LastActiveAdmin)
                account.deactivate(by=by)
            self.log_change(request, user, "Barred.")

    @admin.action(permissions=["change"], description=_("Let in again"))
    def activate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        by: Any = request.user
        for user in accounts_locked(request, queryset.filter(is_active=False, deleted_at=None)):
            with user.locked(by=by, as_admin=True) as account:
                account.change(by=by, is_active=True)
            self.log_change(request, user, "Let in.")

    def log_addition(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        return super().log_addition(request, _nameless(obj), message)

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> LogEntry:
        return super().log_change(request, _nameless(obj), message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        nameless: Any = [_nameless(user) for user in queryset]
        return super().log_deletions(request, nameless)


def accounts_locked(request: HttpRequest, queryset: QuerySet[User]) -> list[User]:
    """The accounts of `queryset`, locked with those of all administrators.

    All at once and in one order, so that actions on several accounts cannot deadlock. The caller's
    own account comes last: what is done to it may end their rights. Call inside a transaction.
    """
    own = request.user.pk
    User.objects.lock_all([*queryset.values_list("pk", flat=True), own])
    return sorted(queryset, key=lambda user: (user.pk == own, user.pk))


def _nameless(user: User) -> User:
    """What the log of changes calls `user`: it outlives the account and must not name it."""
    return User(pk=user.pk, name=f"#{user.pk}")


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    """Log-ins through the API, which can be ended here. Their secrets are not shown."""

    list_display = ("user", "created_at", "used_at", "expires_at", "alive")
    list_filter = (SessionState,)
    list_select_related = ("user",)
    search_fields = ("user__email", "user__name")
    date_hierarchy = "created_at"
    ordering = ("-created_at",)
    fields = ("user", "device", "address", "created_at", "used_at", "expires_at", "ended_at")
    actions = ("end",)

    @admin.display(description=_("alive"), boolean=True)
    def alive(self, session: Session) -> bool:
        return session.ended_at is None and session.expires_at > timezone.now()

    @admin.action(description=_("End these log-ins"))
    def end(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        by: Any = request.user
        accounts_locked(request, User.objects.filter(sessions__in=queryset))
        for session in queryset.select_related("user"):
            with session.user.locked(by=by, as_admin=True):
                session.end()
            self.log_change(request, session, "Ended.")


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    """The outbox: mails that are still to be sent, and those that were given up."""

    list_display = ("letter", "address", "created_at", "due_at", "attempts", "error", "given_up_at")
    list_filter = (MailState, "letter")
    search_fields = ("address",)
    date_hierarchy = "created_at"
    ordering = ("-id",)
    fields = ("letter", "address", "language", *list_display[2:])


@admin.register(ScopedToken)
class ScopedTokenAdmin(ReadOnlyAdmin):
    """Tokens for scripts, which can be ended here. What they are checked by is not shown."""

    list_display = ("name", "hint", "user", "created_at", "used_at", "expires_at")
    list_select_related = ("user",)
    search_fields = ("user__email", "user__name", "=hint")
    ordering = ("-id",)
    fields = ("user", *list_display[:2], "scope_words", "trip", *list_display[3:])
    actions = ("end",)

    @admin.action(description=_("End these tokens"))
    def end(self, request: HttpRequest, queryset: QuerySet[ScopedToken]) -> None:
        by: Any = request.user
        accounts_locked(request, User.objects.filter(scoped_tokens__in=queryset))
        for token in queryset.select_related("user"):
            self.log_change(request, token, "Ended.")
            with token.user.locked(by=by, as_admin=True):
                token.delete()
