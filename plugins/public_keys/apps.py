"""App configuration."""

from tripcompanion.plugin import Plugin


class PublicKeysConfig(Plugin):
    name = "plugins.public_keys"
