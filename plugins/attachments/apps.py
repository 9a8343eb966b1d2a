"""App configuration."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from zipfile import ZipInfo

from django.core.management import CommandError
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException

from tripcompanion.plugin import Outdated, PersonalList, Plugin, TripTable, WriteFile


class AttachmentsConfig(Plugin):
    name = "plugins.attachments"
    verbose_name = gettext_lazy("Attachments")
    watchers = ("process_attachments",)
    phrases = {"attachments": gettext_lazy("the attachments")}

    def trip_tables(self) -> Iterable[TripTable]:
        """What is known of the files; they are not in the file, so nothing is made of it."""
        from plugins.attachments.models import Attachment, shown

        left_out = ("file", "thumbnail", "attempts", "claimed_until")
        yield TripTable("attachments", Attachment, left_out, only=shown, is_restored=False)

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.attachments.models import Attachment

        # The entries that could have been restored with them are deleted before.
        yield "attachments of deleted expenses", [Attachment.objects.outdated()]

    def sweep(self, *, dry_run: bool) -> Iterator[tuple[str, int]]:
        from plugins.attachments.models import named_files
        from plugins.attachments.storage import StorageUnavailable, sweep

        try:
            yield "files without an attachment", sweep(named_files, dry_run=dry_run)
        except StorageUnavailable as error:
            raise CommandError(f"Files were not deleted: {error.__cause__}") from error

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.attachments.models import Attachment
        from plugins.attachments.serializers import ExportedAttachment

        yield PersonalList(
            "attachments",
            ExportedAttachment,
            "The files that they attached.",
            lambda user: Attachment.objects.filter(created_by=user).order_by("id"),
        )

    def personal_files(self, user: Any) -> Iterator[tuple[str | ZipInfo, WriteFile]]:
        from plugins.attachments.models import Attachment

        yield from Attachment.objects.filter(created_by=user).contents()

    def file_problems(self) -> Iterable[type[APIException]]:
        from plugins.attachments.storage import StorageUnavailable

        return [StorageUnavailable]

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        from plugins.attachments.demo import attach_receipt

        attach_receipt(trip, people["olga"])
