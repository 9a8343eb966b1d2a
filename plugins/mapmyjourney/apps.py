"""App configuration."""

from tripcompanion.plugin import Plugin


class MapMyJourneyConfig(Plugin):
    name = "plugins.mapmyjourney"
    requires = ("plugins.invitations", "plugins.itinerary")
