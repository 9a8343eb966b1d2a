"""Sessions, scoped tokens, the outbox, and the log of the admin site itself."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from plugins.admin_pages import ExportedAdmin, in_reader_language
from plugins.admin_tables import StateFilter
from plugins.csv_export import CsvColumns, named
from tripcompanion.adminsite.base import link
from users.models import Mail, ScopedToken, Session, User

#: In CSV files. Passwords, digests and whatever else authenticates somebody are never exported.
_USER: CsvColumns = {"user_id": "user_id", "user_email": "user__email", "user_name": "user__name"}


def accounts_locked(request: HttpRequest, queryset: QuerySet[User]) -> list[User]:
    """Lock the accounts of `queryset` and those of all administrators, and return the former.

    One statement locks them all in one order, so actions on several accounts cannot deadlock. The
    caller's own account comes last, because the action may end their rights. Call inside a
    transaction.
    """
    own: Any = request.user.pk
    ids = [*queryset.values_list("pk", flat=True), own]
    User.objects.lock(ids, lock_admins=True)
    return sorted(queryset, key=lambda user: (user.pk == own, user.pk))


class SessionState(StateFilter):
    states: ClassVar = {
        "active": (pgettext_lazy("session", "active"), {"ended_at": None, "expires_at__gt": Now()}),
        "ended": (gettext_lazy("ended"), {"ended_at__isnull": False}),
    }


class MailState(StateFilter):
    states: ClassVar = {
        "waiting": (gettext_lazy("waiting"), {"given_up_at": None}),
        "given_up": (gettext_lazy("given up"), {"given_up_at__isnull": False}),
    }


@admin.register(Session)
class SessionAdmin(ExportedAdmin):
    """API sessions, which an administrator can end. Their secrets are not displayed."""

    csv_columns: ClassVar = {
        **_USER,
        **named("device", "address", "created_at", "used_at", "expires_at", "ended_at"),
    }
    list_display = ("user", "created_at", "used_at", "expires_at", "active")
    list_filter = (SessionState,)
    date_hierarchy = "created_at"
    ordering = ("-created_at",)
    fields = ("user", "device", "address", "created_at", "used_at", "expires_at", "ended_at")
    actions = ("end",)
    row_actions: ClassVar = {"end": gettext_lazy("End this session")}

    def get_row_actions(self, request: HttpRequest, row: Session) -> Any:
        return self.row_actions if row.ended_at is None else {}

    @admin.display(description=pgettext_lazy("session", "active"), boolean=True)
    def active(self, session: Session) -> bool:
        return session.ended_at is None and session.expires_at > timezone.now()

    @admin.action(description=gettext_lazy("End these sessions"))
    def end(self, request: HttpRequest, queryset: QuerySet[Session]) -> None:
        by: Any = request.user
        accounts_locked(request, User.objects.filter(sessions__in=queryset))
        ended = list(queryset.filter(ended_at=None).select_related("user"))
        for session in ended:
            with session.user.locked(by=by, as_admin=True):
                session.end()
            self.log_change(request, session, gettext_lazy("Ended."))
        self.tell_count(request, _("Sessions ended: %(count)d."), len(ended))


@admin.register(Mail)
class MailAdmin(ExportedAdmin):
    """The outbox: mails that wait to be sent, and mails that were given up."""

    csv_columns = named(
        *("id", "letter", "address", "language", "created_at", "due_at", "attempts", "error"),
        "given_up_at",
    )
    list_display = ("letter", "address", "created_at", "due_at", "attempts", "error", "given_up_at")
    list_filter = (MailState, "letter")
    search_fields = ("address",)
    date_hierarchy = "created_at"
    fields = ("letter", "address", "language", *list_display[2:])
    actions = ("retry",)
    row_actions: ClassVar = {"retry": gettext_lazy("Send again")}

    def get_row_actions(self, request: HttpRequest, row: Mail) -> Any:
        return self.row_actions if row.given_up_at else {}

    @admin.action(description=gettext_lazy("Send these mails again, if they were given up"))
    def retry(self, request: HttpRequest, queryset: QuerySet[Mail]) -> None:
        by: Any = request.user
        with by.locked(by=by, as_admin=True):
            retried = [mail for mail in queryset if mail.retry()]
            for mail in retried:
                self.log_change(request, mail, gettext_lazy("Queued again."))
        self.tell_count(request, _("Mails queued again: %(count)d."), len(retried))


@admin.register(ScopedToken)
class ScopedTokenAdmin(ExportedAdmin):
    """Scoped tokens, which an administrator can revoke. Their digests are not displayed."""

    csv_columns: ClassVar = {
        "id": "id",
        **_USER,
        **named("name", "hint"),
        "scopes": "scope_words",
        **named("trip_id", "created_at", "used_at", "expires_at"),
    }
    list_display = ("name", "hint", "user", "created_at", "used_at", "expires_at")
    search_fields = ("=hint",)
    fields = ("user", *list_display[:2], "scope_words", "trip_id", *list_display[3:])
    actions = ("end",)
    row_actions: ClassVar = {"end": gettext_lazy("Revoke this token")}

    @admin.action(description=gettext_lazy("Revoke these tokens"))
    def end(self, request: HttpRequest, queryset: QuerySet[ScopedToken]) -> None:
        by: Any = request.user
        accounts_locked(request, User.objects.filter(scoped_tokens__in=queryset))
        tokens = list(queryset.select_related("user"))
        for token in tokens:
            self.log_change(request, token, gettext_lazy("Revoked."))
            with token.user.locked(by=by, as_admin=True):
                token.delete()
        self.tell_count(request, _("Tokens revoked: %(count)d."), len(tokens))


@admin.register(LogEntry)
class LogEntryAdmin(ExportedAdmin):
    """What administrators did in this site. An action on several rows has an entry for each."""

    csv_columns: ClassVar = {
        **named("id", "action_time"),
        **_USER,
        "action_flag": "action_flag",
        "model": "content_type__model",
        **named("object_id", "object_repr", "change_message"),
    }
    list_display = ("action_time", "by", "message", "row", "kind", "action_flag")
    list_display_links = ("action_time",)
    list_filter = (
        "action_flag",
        ("content_type", admin.RelatedOnlyFieldListFilter),
        ("user", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("user", "content_type")
    search_fields = ("user__email", "user__name", "object_repr", "=object_id")
    search_help_text = gettext_lazy(
        "An administrator's e-mail or name, or the number or title of a row"
    )
    date_hierarchy = "action_time"
    ordering = ("-action_time", "-id")
    fields = ("action_time", "user", "action_flag", "content_type", "row", "message")

    @admin.display(description=gettext_lazy("administrator"), ordering="user__name")
    def by(self, entry: LogEntry) -> str:
        return link(entry.user, entry.user.shown_name)

    @admin.display(description=gettext_lazy("kind"))
    def kind(self, entry: LogEntry) -> str:
        return entry.content_type.name if entry.content_type else "-"

    @admin.display(description=gettext_lazy("row"))
    def row(self, entry: LogEntry) -> str:
        url = None if entry.is_deletion() else entry.get_admin_url()
        return (
            format_html('<a href="{}">{}</a>', url, entry.object_repr) if url else entry.object_repr
        )

    @admin.display(description=gettext_lazy("details"))
    def message(self, entry: LogEntry) -> str:
        return in_reader_language(entry.get_change_message())
