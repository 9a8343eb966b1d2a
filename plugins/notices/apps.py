"""App configuration."""

from collections.abc import Mapping
from importlib import import_module

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import AccountField, MailText, Notice, Plugin


class NoticesConfig(Plugin):
    name = "plugins.notices"
    #: Those of the core.
    notices = {
        "member.added": Notice(
            gettext_lazy("notice: added to a trip"),
            gettext_lazy("You were added to a trip:"),
            at_first=True,
        ),
        "split.paid": Notice(
            gettext_lazy("notice: split paid"),
            gettext_lazy("Your part of an expense was marked as paid:"),
            at_first=True,
        ),
        "expense.created": Notice(
            gettext_lazy("notice: expense recorded"),
            gettext_lazy("An expense that you take part in was recorded:"),
            at_first=True,
        ),
        "expense.changed": Notice(
            gettext_lazy("notice: expense changed"),
            gettext_lazy("An expense that you take part in was changed:"),
            at_first=True,
        ),
    }

    def ready(self) -> None:
        super().ready()
        # Nothing imports the receiver of the signal.
        import_module("plugins.notices.queueing")

    def mails(self) -> Mapping[str, MailText]:
        from plugins.notices.sending import MAILS

        return MAILS

    def account_fields(self) -> Mapping[str, AccountField]:
        from plugins.notices.serializers import FIELD

        return {"notices": FIELD}
