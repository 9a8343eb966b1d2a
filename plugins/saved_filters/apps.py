"""App configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from tripcompanion.plugin import PersonalList, Plugin


class SavedFiltersConfig(Plugin):
    name = "plugins.saved_filters"
    requires = ("plugins.expense_filters",)
    links = {"filters": "/api/users/me/filters"}

    def expense_filters(self) -> Mapping[str, Any]:
        from plugins.saved_filters.filters import BySavedFilter

        return {"filter": BySavedFilter()}

    def personal_data(self) -> Iterable[PersonalList]:
        from plugins.saved_filters.serializers import SavedFilterSerializer

        yield PersonalList(
            "filters",
            SavedFilterSerializer,
            "Their saved filters.",
            lambda user: user.saved_filters.order_by("id"),
        )

    def forget(self, account: Any, by: Any) -> None:
        account.saved_filters.all().delete()
