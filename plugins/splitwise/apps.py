"""App configuration."""

from django.utils.translation import gettext_lazy

from tripcompanion.plugin import Plugin


class SplitwiseConfig(Plugin):
    name = "plugins.splitwise"
    verbose_name = gettext_lazy("Programs for Splitwise's API")
    requires = ("plugins.attachments", "plugins.comments", "plugins.history", "plugins.invitations")
