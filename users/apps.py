"""App configuration."""

from typing import Any

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.utils import timezone


def note_browser_log_in(sender: Any, user: Any, **kwargs: Any) -> None:
    """Note when somebody last logged in with a browser, unless the account was closed meanwhile."""
    sender.objects.filter(pk=user.pk, is_active=True).update(last_login=timezone.now())


class UsersConfig(AppConfig):
    name = "users"

    def ready(self) -> None:
        # Connected first and under the same name, it replaces Django's own receiver, which saves
        # the account as it was read before.
        user_logged_in.connect(note_browser_log_in, dispatch_uid="update_last_login")
