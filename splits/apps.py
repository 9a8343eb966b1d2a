"""App configuration."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class SplitsConfig(Plugin):
    name = "splits"
    verbose_name = gettext_lazy("Ledger")

    def figures(self) -> Iterator[Any]:
        from splits.metrics import figures

        return figures()
