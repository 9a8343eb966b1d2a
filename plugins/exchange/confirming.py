"""Confirming a plan: everything in one transaction, or nothing. And undoing it."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import Any

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from rest_framework.exceptions import PermissionDenied

from plugins.exchange.columns import MODELS, carried
from plugins.exchange.description import UnreadableFile
from plugins.exchange.erasing import erase
from plugins.exchange.models import (
    TAKEN,
    AlreadyImported,
    ChangedSince,
    EntryKind,
    Import,
    ImportedMeanwhile,
    ImportedRow,
    NotImported,
)
from plugins.exchange.notes import FileUnreadable
from plugins.exchange.own_file import OwnFile
from plugins.exchange.planning import BATCH_ROWS, require_payments
from plugins.exchange.restoring import trip_from
from plugins.exchange.source import SourceFile, as_json
from plugins.exchange.tables import TABLES
from plugins.merging.models import Merge
from plugins.recording import NewExpense, Recording
from splits.models import Allocation, Division, Expense, Settlement
from splits.models.debt import MAX_OPEN_DEBTS
from splits.models.division import Payment
from splits.models.in_trip import added_rows
from splits.models.items import Items
from tripcompanion.api.problems import Conflict, LimitReached
from trips.models import JournalEntry, Member, Trip, get_visible_or_404, locked_trip
from trips.models.conflicts import AlreadyMember
from trips.roles import DEFAULT_ROLE, Can
from users.models import User

#: The fields of a plan that a new trip gets.
_OF_TRIP = ("title", "destination", "description", "currency", "start_date", "end_date")

#: An import of so many entries changes what PostgreSQL should know of its tables.
MANY_ENTRIES = 1000


def confirm(import_id: int, by: User, progress: Any = iter) -> Import:
    """Record everything that a plan contains. `progress` wraps the batches of rows.

    Raises `NotFound` if there is no such plan any more, `AlreadyImported`, `ImportedMeanwhile`,
    `LimitReached` and `TooManyDebts` before anything is written if the plan is too large, and
    whatever the commands raise that add members and record entries by hand.
    """
    own_file = _own_file(import_id, by)
    with transaction.atomic():
        stored = Import.objects.locked(import_id, by)
        if stored.confirmed_at is not None:
            raise AlreadyImported
        plan = stored.plan
        if sum(plan.counts[kind] for kind in EntryKind.values) >= MANY_ENTRIES:
            transaction.on_commit(_analyse, robust=True)
        if plan.is_copy:
            return _make_copy(stored, by, own_file)
        _require_room(stored, by)
        trip = stored.trip or Trip.start(by, **{name: getattr(plan, name) for name in _OF_TRIP})
        people = _admit(trip, by, plan.people)
        can = Can.RECORD if plan.counts[EntryKind.EXPENSE] else Can.SETTLE
        with locked_trip(trip.pk, by, can, lambda _trip: True) as locked:
            if stored.trip is not None:
                locked.require_currency(plan.currency)
                _require_new_rows(stored, locked)
            recording = Recording(locked, by)
            for rows in progress(_batches(stored)):
                news = [_new(row, people) for row in rows]
                payments = [new for new in news if isinstance(new, Settlement)]
                require_payments(locked, by, ((p.sender_id, p.receiver_id) for p in payments))
                ids = recording.record(news)
                _comment(locked, by, rows, ids)
                for row, object_id in zip(rows, ids, strict=True):
                    row.object_id = object_id
                ImportedRow.objects.bulk_update(rows, ["object_id"])
        _finish(stored, trip, people)
        return stored


def _analyse() -> None:
    """Let PostgreSQL see at once what was imported, and not after some minutes.

    Until then it expects hardly any rows in the trip, and may compare all with each other. The
    COMMIT has had only those tables analysed of which the import is a tenth. One that is vacuumed
    now, or gets an index, is left out.
    """
    if connection.vendor != "postgresql":
        return
    names = {table.model._meta.db_table for table in TABLES}
    with connection.cursor() as cursor:
        for name in sorted(names):
            cursor.execute(f"ANALYZE (SKIP_LOCKED) {connection.ops.quote_name(name)}")


def _comment(trip: Trip, by: User, rows: Iterable[ImportedRow], ids: Iterable[int]) -> None:
    """Write the comments of recorded rows, if there is a table for them."""
    added = added_rows().get("comments")
    texts = [
        (object_id, text)
        for row, object_id in zip(rows, ids, strict=True)
        if added and row.kind == EntryKind.EXPENSE
        for text in orjson.loads(row.entry)["comments"]
    ]
    if added and texts:
        added.add(trip, by, texts)


def _require_room(stored: Import, by: User) -> None:
    """Raise `LimitReached` or `TooManyDebts` before the first write if the plan is too large.

    The trip is not locked yet; under its lock, recording checks the same again.
    """
    plan = stored.plan
    trip = Trip(pk=0, currency=plan.currency)
    if stored.trip_id is not None:
        trip = get_visible_or_404(Trip.objects.all, by, pk=stored.trip_id)
    trip.require_expense_quota(plan.counts[EntryKind.EXPENSE])
    entries = sum(plan.counts[kind] for kind in EntryKind.values)
    LimitReached.require_at_most(settings.QUOTA_CHANGES, entries)
    present = {*trip.present_roles} or {by.pk}
    # Whoever is added has no id in the trip yet.
    ids = {person.key: person.user_id or -at for at, person in enumerate(plan.people, start=1)}
    trip.present_roles = dict.fromkeys(present | {*ids.values()}, DEFAULT_ROLE)
    LimitReached.require_at_most(settings.QUOTA_MEMBERS, len(trip.present_roles))
    # Nobody is debtor and creditor of an expense, so n people have at most n²/4 debts of it.
    if plan.counts[EntryKind.EXPENSE] * len(plan.people) ** 2 <= 4 * MAX_OPEN_DEBTS:
        return
    rehearsal = Recording(trip, by)
    for rows in _batches(stored):
        rehearsal.rehearse(_new(row, ids) for row in rows)


def _read(stored: Import) -> OwnFile:
    """The file of a plan. Raises `UnreadableFile`."""
    return OwnFile(SourceFile(stored.opened(), is_checked=True))


def _own_file(import_id: int, by: User) -> OwnFile | None:
    """The file of a plan for a copy, read before the transaction. Raises `FileUnreadable`."""
    stored = Import.objects.of(by).filter(pk=import_id, confirmed_at=None).first()
    try:
        return _read(stored) if stored and stored.plan.is_copy else None
    except UnreadableFile as error:
        raise FileUnreadable.of(error) from error


def _require_new_rows(stored: Import, trip: Trip) -> None:
    """Raise `ImportedMeanwhile` if another import has recorded some of the rows since."""
    later = Import.objects.rows_in(trip.pk)
    if until := stored.plan.recorded_until:
        later = later.filter(plan__confirmed_at__gt=until)
    rows = stored.rows.filter(outcome__in=TAKEN)
    if rows.filter(Q(key__in=later.values("key")) | Q(match__in=later.values("match"))).exists():
        raise ImportedMeanwhile


def _finish(stored: Import, trip: Trip, people: Mapping[str, int]) -> None:
    """Store the ids of what was recorded and of people, and whether each was a member before."""
    numbers = JournalEntry.objects.filter(trip=trip.pk).order_by("-number")
    stored.last_number = numbers.values_list("number", flat=True).first() or 0
    content = orjson.loads(stored.content)
    # Of all trips: they have no index on the trip.
    last = Allocation.objects.order_by("-pk").values_list("pk", flat=True).first()
    content["last_allocation"] = last or 0
    guests = set(
        User.objects.filter(pk__in=people.values(), is_guest=True).values_list("pk", flat=True)
    )
    for person, planned in zip(content["people"], stored.plan.people, strict=True):
        user_id = people[person["key"]]
        person |= {"was_member": planned.is_member, "user_id": user_id}
        person |= {"is_member": True, "guest": user_id in guests}
    stored.trip, stored.content = trip, as_json(content)
    stored.confirmed_at, stored.file = timezone.now(), None
    del stored.plan
    stored.save()


def _make_copy(stored: Import, by: User, file: OwnFile | None) -> Import:
    """Make a new trip of our own export, as it was; mapped accounts take the place of guests.

    Its title and its destination are those of the plan.

    Raises `FileUnreadable`, and what `trip_from` and adding these accounts raise.
    """
    plan = stored.plan
    people = {person.key: person.user_id for person in plan.people}
    own = next((int(key) for key, user_id in people.items() if user_id == by.pk), None)
    try:
        made = trip_from(file or _read(stored), by, own)
    except UnreadableFile as error:
        raise FileUnreadable.of(error) from error
    made.trip.change(by, title=plan.title, destination=plan.destination)
    for key, user_id in people.items():
        guest_id = made.ids[User][int(key)]
        guest = made.trip.members.get(user=guest_id)
        if user_id in {None, by.pk} or guest.left_at is not None:
            people[key] = guest_id
        else:
            Member.add(made.trip, by, role=DEFAULT_ROLE, user_id=user_id)
            Merge.order(guest, by, user_id)
    ids = {kind: list(made.ids[model].values()) for kind, model in MODELS.items()}
    rows = list(stored.rows.exclude(kind=""))
    for row in rows:
        row.object_id = ids[row.kind][row.line - 1]
    ImportedRow.objects.bulk_update(rows, ["object_id"], batch_size=BATCH_ROWS)
    _finish(stored, made.trip, people)
    return stored


def _admit(trip: Trip, by: User, people: list[Any]) -> dict[str, int]:
    """Add the people of a plan who are not members, and return everybody's user id by key.

    Each is added as by hand: accounts as VIEWER, and everybody else as a guest.
    """
    ids = {person.key: person.user_id for person in people}
    present = set(trip.members.filter(left_at=None).values_list("user", flat=True))
    for person in people:
        # Somebody may have joined since it was planned.
        person.is_member = person.user_id in present
    for user_id in ids.values():
        if user_id is not None and user_id not in present:
            with suppress(AlreadyMember):
                Member.add(trip, by, role=DEFAULT_ROLE, user_id=user_id)
    for person in people:
        if person.user_id is None:
            ids[person.key] = Member.add_guest(trip, by, person.name).user_id
    return ids


def _batches(stored: Import) -> Iterator[list[ImportedRow]]:
    """The rows that are recorded, the oldest first."""
    rows = stored.rows.filter(outcome__in=TAKEN).order_by("entry_date", "position")
    keys = list(rows.values_list("pk", flat=True))
    for first in range(0, len(keys), BATCH_ROWS):
        some = keys[first : first + BATCH_ROWS]
        found = ImportedRow.objects.in_bulk(some)
        yield [found[key] for key in some]


def _new(row: ImportedRow, people: Mapping[str, int]) -> NewExpense | Settlement:
    """What is recorded for a row."""
    entry, day = orjson.loads(row.entry), row.entry_date or date.min
    columns = carried(MODELS.get(row.kind, Expense)).values()
    fields = {c.name: c.to_python(entry[c.name]) for c in columns if c.name in entry}
    rate, rate_day = entry["rate"], entry["rate_day"]
    amounts = {
        "amount_minor": entry["amount"],
        "exchange_rate": None if rate is None else Decimal(rate),
        "rate_source": entry["rate_source"],
        "rate_day": None if rate_day is None else date.fromisoformat(rate_day),
    }
    if row.kind == EntryKind.SETTLEMENT:
        if rate is not None:
            amounts["foreign_minor"] = entry["entered_amount"]
            amounts["foreign_currency"] = entry["currency"]
        return Settlement(
            sender_id=people[entry["sender"]],
            receiver_id=people[entry["receiver"]],
            settled_on=day,
            **fields,
            **amounts,
        )
    amounts |= {"entered_minor": entry["entered_amount"], "currency": entry["currency"]}
    participants = tuple(people[key] for key, _value in entry["entered"])
    entered = {people[key]: value for key, value in entry["entered"] if value is not None}
    items = Items.of(entry["items"], entry["currency"])
    if items is not None:
        items = items.renamed({int(key): people[key] for key, _value in entry["entered"]})
    exact, paid = entry["parts"], entry["paid"] or ()
    pairs = zip(entry["payers"], paid, strict=False)
    in_trip = {people[key]: Payment(minor, entered) for (key, entered), minor in pairs}
    return NewExpense(
        fields={**fields, **amounts, "expense_date": day},
        paid_by_user={people[key]: minor for key, minor in entry["payers"]},
        division=Division(entry["split_type"], participants, entered or None, items),
        exact_parts=None if exact is None else {people[key]: minor for key, minor in exact},
        exact_currency=entry["parts_currency"],
        moved_payments=in_trip if len(in_trip) > 1 else None,
    )


def undo(import_id: int, by: User) -> Import:
    """Delete what a confirmed import has made, as if it had never been.

    Raises `NotFound`, `NotImported`, and `ChangedSince` if anything has happened to it since: in a
    trip that the import made, anything at all.
    """
    with transaction.atomic():
        stored = Import.objects.locked(import_id, by)
        if stored.state != "done" or stored.trip is None:
            raise NotImported
        can = Can.MANAGE_TRIP if stored.makes_trip else Can.CHANGE_EXPENSES
        with locked_trip(stored.trip.pk, by, can, lambda _trip: True) as locked:
            ids = _recorded(stored)
            if _is_touched(stored, locked, ids):
                raise ChangedSince
            if stored.makes_trip:
                locked.remove(by)
            else:
                erase(locked, by, ids[EntryKind.EXPENSE], ids[EntryKind.SETTLEMENT])
                _remove_people(stored, locked, by)
        stored.undone_at = timezone.now()
        stored.save(update_fields=["undone_at"])
        return stored


def delete(import_id: int, by: User) -> None:
    """Delete a plan, or an import that was undone. Raises `NotFound` and `AlreadyImported`."""
    with transaction.atomic():
        stored = Import.objects.locked(import_id, by)
        if stored.state == "done":
            raise AlreadyImported
        stored.delete()


def _recorded(stored: Import) -> dict[str, list[int]]:
    """The ids of what the import has made, by kind."""
    ids: dict[str, list[int]] = {kind: [] for kind in EntryKind.values}
    rows = stored.rows.exclude(object_id=None)
    for kind, object_id in rows.values_list("kind", "object_id"):
        ids[kind].append(object_id or 0)
    return ids


def _is_touched(stored: Import, trip: Trip, ids: Mapping[str, list[int]]) -> bool:
    later = JournalEntry.objects.filter(trip=trip.pk, number__gt=stored.last_number)
    if stored.makes_trip:
        return later.exists()
    expenses, settlements = set(ids[EntryKind.EXPENSE]), set(ids[EntryKind.SETTLEMENT])
    for event, object_id, expense_id in later.values_list("event", "object_id", "expense_id"):
        is_settlement = event.startswith("settlement.") and object_id in settlements
        if expense_id in expenses or is_settlement:
            return True
    # Something of the import covers, or is covered by, something else, and was not by the import.
    since = getattr(stored.plan, "last_allocation", 0)
    rows = Allocation.objects.filter(trip=trip.pk, pk__gt=since).order_by()
    cause = Coalesce("settlement__closing", "settlement")
    pairs = rows.values_list("debt__split__expense", cause, "closed_by")
    for expense_id, settlement_id, cause_id in pairs.iterator():
        sides = {expense_id in expenses} if expense_id else set()
        sides |= {pk in settlements for pk in (settlement_id, cause_id) if pk}
        if len(sides) > 1:
            return True
    return False


def _remove_people(stored: Import, trip: Trip, by: User) -> None:
    """Remove whom the import added, unless they are in something else, or have done something."""
    added = [person.user_id for person in stored.plan.people if not person.was_member]
    later = JournalEntry.objects.filter(trip=trip.pk, number__gt=stored.last_number)
    members = Member.objects.present().filter(trip=trip.pk, user__in=added, role=DEFAULT_ROLE)
    active = later.exclude(by=None).values("by")
    for member in members.exclude(user__in=active).order_by("pk"):
        with suppress(Conflict, PermissionDenied):
            # Whoever added them may take that back.
            member.remove(by, can=Can.ADD_MEMBERS)
