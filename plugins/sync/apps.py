"""App configuration."""

from tripcompanion.plugin import Plugin


class SyncConfig(Plugin):
    name = "plugins.sync"

    def ready(self) -> None:
        super().ready()
        from plugins.sync.live import announce
        from trips.signals import journal_written

        journal_written.connect(announce)
