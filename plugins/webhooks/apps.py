"""App configuration."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import MailText, Plugin


class WebhooksConfig(Plugin):
    name = "plugins.webhooks"
    verbose_name = gettext_lazy("Webhooks")

    def mails(self) -> Mapping[str, MailText]:
        from plugins.webhooks.mails import MAILS

        return MAILS
