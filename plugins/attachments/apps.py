"""App configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin, TripTable
from trips.roles import Table


class AttachmentsConfig(Plugin):
    name = "plugins.attachments"
    verbose_name = gettext_lazy("Attachments")

    def rights(self) -> Table:
        from plugins.attachments.rights import TABLE

        return TABLE

    def trip_tables(self) -> Iterable[TripTable]:
        """What is known of the files; they are not in the file, so nothing is made of it."""
        from plugins.attachments.models import Attachment, shown

        left_out = frozenset({"trip_id", "file", "thumbnail", "attempts", "claimed_until"})
        yield TripTable("attachments", Attachment, left_out, only=shown, is_restored=False)

    def phrases(self) -> Mapping[str, Any]:
        return {"attachments": gettext_lazy("the attachments")}
