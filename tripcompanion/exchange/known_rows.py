"""Which rows of a file were imported before, and what has changed in them since."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tripcompanion.exchange.description import TripDescription
from tripcompanion.exchange.identity import Identity, identified
from tripcompanion.exchange.models import TAKEN, Import, ImportedRow
from tripcompanion.exchange.source import as_json
from trips.models import Trip
from users.models import User

#: By how many of its first rows a file is known again.
_SAMPLE_ROWS = 100


def known_trip(caller: User, described: TripDescription) -> Trip | None:
    """The trip that the caller imported an older file of the same group into, if there is one."""
    keys = set()
    for (_entry, identity), _at in zip(identified(described), range(_SAMPLE_ROWS), strict=False):
        if identity:
            keys.add(identity.key)
    imports = Import.objects.recorded().filter(user=caller)
    rows = ImportedRow.objects.filter(key__in=keys, plan__in=imports)
    ids = rows.values_list("plan__trip", flat=True).distinct()
    return Trip.objects.visible_to(caller).filter(pk__in=list(ids)).order_by("pk").first()


class KnownRows:
    """The rows of earlier imports into a trip."""

    def __init__(self, trip: Trip | None, described: TripDescription) -> None:
        self.rows: dict[str, tuple[str, str]] = {}
        self.by_match: dict[str, list[str]] = defaultdict(list)
        if trip is None:
            return
        imports = Import.objects.recorded().filter(trip=trip.pk)
        rows = ImportedRow.objects.filter(plan__in=imports, outcome__in=TAKEN)
        found = list(rows.order_by("pk").values_list("key", "match", "digest", "shown"))
        if not found:
            return
        in_file = {identity.key for _entry, identity in identified(described) if identity}
        for key, match, digest, shown in found:
            self.rows[key] = (digest, shown)
            if key not in in_file:
                self.by_match[match].append(shown)

    def changes(self, identity: Identity, shown: Mapping[str, Any]) -> list[str] | None:
        """The fields that have changed in a row since it was imported; None for a new row."""
        if known := self.rows.get(identity.key):
            digest, before = known
            return [] if digest == identity.digest else _changed(before, shown)
        if left := self.by_match.get(identity.match):
            return _changed(left.pop(0), shown)
        return None


def _changed(before: str, shown: Mapping[str, Any]) -> list[str]:
    names = [n for n, value in shown.items() if as_json(value) not in before]
    return names or ["division"]
