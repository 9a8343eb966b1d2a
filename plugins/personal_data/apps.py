"""App configuration."""

from collections.abc import Iterable

from tripcompanion.plugin import PersonalList, Plugin


class PersonalDataConfig(Plugin):
    name = "plugins.personal_data"
    links = {"export": "/api/users/me/export"}

    def personal_data(self) -> Iterable[PersonalList]:
        """What the core keeps; each other plugin adds its own."""
        from plugins.personal_data import accounts, ledger, memberships

        return (*accounts.LISTS, *memberships.LISTS, *ledger.LISTS)
