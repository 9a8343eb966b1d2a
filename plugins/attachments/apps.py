"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin
from trips.roles import Table


class AttachmentsConfig(Plugin):
    name = "plugins.attachments"
    verbose_name = gettext_lazy("Attachments")

    def rights(self) -> Table:
        from plugins.attachments.rights import TABLE

        return TABLE
