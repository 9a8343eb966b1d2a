"""App configuration."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from zipfile import ZipInfo

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Outdated, PersonalList, Plugin, WriteFile


class ExchangeConfig(Plugin):
    name = "plugins.exchange"
    verbose_name = gettext_lazy("Imports")
    requires = ("plugins.history", "plugins.merging")

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        from plugins.exchange.models import Import

        yield "plans of imports", [Import.objects.outdated().order_by("created_at")]

    def forget(self, account: Any, by: Any) -> None:
        account.imports.all().delete()

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.exchange.serializers import ImportSummary

        yield PersonalList(
            "imports",
            ImportSummary,
            "The files that they imported.",
            lambda user: user.imports.order_by("id").defer("file"),
        )

    def personal_files(self, user: Any) -> Iterator[tuple[str | ZipInfo, WriteFile]]:
        """Each trip in which the user is a member."""
        from plugins.exchange.trip_file import write_json
        from trips.models import Trip

        for trip in Trip.objects.of_member(user).order_by("pk"):
            yield f"trips/{trip.pk}.json", lambda file, trip=trip: write_json(trip, file.write)
