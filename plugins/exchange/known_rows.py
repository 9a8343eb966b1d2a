"""Which rows of a file were imported before, and what has changed in them since."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

from plugins.exchange.description import DescribedExpense, DescribedSettlement, Entry, SkippedRow
from plugins.exchange.formats.reading import TripDescription
from plugins.exchange.models import Import, ImportedRow
from plugins.exchange.source import as_json
from tripcompanion.currency.amounts import to_major
from trips.models import Trip
from users.models import User

#: How many of its first rows are compared to recognize a file.
_SAMPLE_ROWS = 100


class Identity(NamedTuple):
    """How a row is recognized in the same file, or a newer one; see `ImportedRow`."""

    key: str
    match: str
    digest: str


def identified(trip: TripDescription) -> Iterator[tuple[Entry, Identity | None]]:
    """The entries of a description with their identities; None for skipped rows.

    Rows without an id that are equal are different all the same: two coffees on one day are real.
    """
    names = {person.key: person.name for person in trip.people}
    seen: Counter[str] = Counter()
    for entry in trip.entries:
        if isinstance(entry, SkippedRow):
            yield entry, None
            continue
        digest = _digest(trip.format, *_content(entry, names))
        key = _digest(trip.format, "id", entry.key) if entry.key else ""
        if not key:
            seen[digest] += 1
            key = _digest(digest, seen[digest])
        yield entry, Identity(key, _digest(trip.format, _time(entry), entry.title), digest)


def _content(
    entry: DescribedExpense | DescribedSettlement, names: Mapping[str, str]
) -> Iterable[object]:
    """What makes a row differ: when, what, how much, by whom and for whom."""
    common = (_time(entry), entry.amount_minor, entry.currency)
    if isinstance(entry, DescribedSettlement):
        people = [names.get(key, key) for key in (entry.sender, entry.receiver)]
        return (*common, entry.title, people)
    payers = [(names.get(key, key), minor) for key, minor in entry.payers]
    parts = sorted((names.get(key, key), value) for key, value in entry.parts or ())
    entered = sorted((names.get(key, key), value or 0) for key, value in entry.entered)
    return (*common, entry.title, sorted(payers), parts or entered)


def _time(entry: DescribedExpense | DescribedSettlement) -> str:
    """When it happened, in words that do not depend on the time zone of the import."""
    return entry.instant or str(entry.date)


def _digest(*values: object) -> str:
    return blake2b(as_json(values).encode(), digest_size=16).hexdigest()


def shown_of(entry: DescribedExpense | DescribedSettlement) -> dict[str, Any]:
    """What a plan shows of an entry; `KnownRows.changes` compares it with earlier imports."""
    return {
        "description": entry.title,
        "date": str(entry.date),
        "amount": f"{to_major(entry.amount_minor, entry.currency):f}",
        "currency": entry.currency,
    }


def known_trip(caller: User, described: TripDescription) -> Trip | None:
    """The trip that the caller imported an older file of the same group into, if there is one."""
    sample = islice(identified(described), _SAMPLE_ROWS)
    keys = {identity.key for _entry, identity in sample if identity}
    imports = Import.objects.recorded().filter(user=caller)
    rows = ImportedRow.objects.filter(key__in=keys, plan__in=imports)
    ids = rows.values_list("plan__trip", flat=True).distinct()
    return Trip.objects.visible_to(caller).filter(pk__in=list(ids)).order_by("pk").first()


class KnownRows:
    """The rows of earlier imports into a trip, and what its own file has of it at `present`."""

    def __init__(
        self, trip: Trip | None, described: TripDescription, present: TripDescription | None = None
    ) -> None:
        self.rows: dict[str, tuple[str, str]] = {}
        #: Whether the file is one of the trip itself.
        self.is_own_file = present is not None and present.origin == described.origin
        #: By what nothing else has: another service has the same ids, but not at the same moment.
        self.own = {
            (entry.key, entry.made_at): (identity.digest, as_json(shown_of(entry)))
            for entry, identity in (identified(present) if present else ())
            if identity and not isinstance(entry, SkippedRow)
        }
        self.by_match: dict[str, list[str]] = defaultdict(list)
        #: When the last of these imports was confirmed.
        self.until: datetime | None = None
        if trip is None:
            return
        rows = Import.objects.rows_in(trip.pk)
        columns = ("key", "match", "digest", "shown", "plan__confirmed_at")
        found = list(rows.order_by("pk").values_list(*columns))
        if not found:
            return
        self.until = max(at for *_row, at in found)
        in_file = {identity.key for _entry, identity in identified(described) if identity}
        for key, match, digest, shown, _at in found:
            self.rows[key] = (digest, shown)
            if key not in in_file:
                self.by_match[match].append(shown)

    def changes(self, entry: Any, identity: Identity, shown: Mapping[str, Any]) -> list[str] | None:
        """The fields that have changed in a row since it was imported; None for a new row."""
        own = self.own.get((entry.key, entry.made_at))
        if known := own or self.rows.get(identity.key):
            digest, before = known
            return [] if digest == identity.digest else _changed(before, shown)
        if left := self.by_match.get(identity.match):
            return _changed(left.pop(0), shown)
        return None


def _changed(before: str, shown: Mapping[str, Any]) -> list[str]:
    names = [n for n, value in shown.items() if as_json(value) not in before]
    return names or ["division"]
