"""App configuration."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class ExchangeConfig(Plugin):
    name = "plugins.exchange"
    verbose_name = gettext_lazy("Imports")

    def outdated(
        self, now: datetime, month_ago: datetime
    ) -> Iterator[tuple[str, list[QuerySet[Any]]]]:
        from plugins.exchange.models import Import

        yield "plans of imports", [Import.objects.outdated().order_by("created_at")]

    def forget(self, account: Any, by: Any) -> None:
        account.imports.all().delete()
