"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin, plugins
from trips.roles import TABLE


class TripsConfig(Plugin):
    name = "trips"
    verbose_name = gettext_lazy("Trips")

    def ready(self) -> None:
        super().ready()
        for app in plugins():
            TABLE.update(app.rights())
