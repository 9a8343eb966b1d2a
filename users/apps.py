"""App configuration."""

from datetime import datetime
from importlib import import_module
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.utils import timezone
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Outdated, Plugin, until


def note_browser_log_in(sender: Any, user: Any, **kwargs: Any) -> None:
    """Set `last_login` after a browser login, unless the account was deactivated meanwhile."""
    sender.objects.filter(pk=user.pk, is_active=True).update(last_login=timezone.now())


def note_failed_log_in(credentials: Any, request: Any = None, **kwargs: Any) -> None:
    """Count a wrong password of the API or of a form."""
    if request is not None:
        throttles: Any = import_module("users.throttles")
        throttles.note_wrong_password(request, credentials.get("username"))


class UsersConfig(Plugin):
    name = "users"
    verbose_name = gettext_lazy("Accounts")
    watchers = ("send_mail_queue",)

    def ready(self) -> None:
        super().ready()
        # drf-spectacular finds its extensions by their import, and nothing else imports these.
        import_module("users.schema")
        # Django skips its own receiver, because this one is connected first with the same
        # dispatch_uid. Django's would save an instance that was read without the lock.
        user_login_failed.connect(note_failed_log_in)
        user_logged_in.connect(note_browser_log_in, dispatch_uid="update_last_login")

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from django.contrib.sessions.models import Session as BrowserSession

        from users.models import EmailToken, Mail, ScopedToken, Session

        # Two querysets, because no index serves an OR of both columns.
        columns = ("ended_at", "expires_at")
        yield "sessions", [until(month_ago, Session, column) for column in columns]
        yield "scoped tokens", [until(month_ago, ScopedToken, "expires_at")]
        yield "links", [until(now, EmailToken, "expires_at")]
        yield "mails", [until(month_ago, Mail, "given_up_at")]
        yield "browser sessions", [until(now, BrowserSession, "expire_date")]
