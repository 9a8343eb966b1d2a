"""Makes a trip from a file in our own format: every row is what it was, under new ids.

A file may say anything. So texts are checked as those of a request are, every id must be that of a
row in the file, and the audit must find nothing wrong with the new trip; otherwise nothing is
written. All of it is in a trip of the caller's own, where everybody else is a guest.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import DateTimeField, ForeignKey, Max, Model
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from plugins.exchange.description import UnreadableFile
from plugins.exchange.fitting import items_from
from plugins.exchange.formats.trip_companion import FORMAT, PEOPLE_FOR_EACH, VERSION, few_places
from plugins.exchange.imported_history import imported_history, instant, is_id
from plugins.exchange.own_file import OwnFile
from plugins.exchange.tables import AS_ENTERED, CHUNK_ROWS, TABLES, TRIP, Column, Table
from splits.models import Allocation, Expense, Settlement
from splits.models.debt import MAX_OPEN_DEBTS, TooManyDebts
from splits.models.in_trip import added_rows
from splits.money import Places, place_of
from splits.offsets import offset_closings
from splits.reports.audit import differences
from tripcompanion.api.problems import LimitReached
from tripcompanion.api.serializers import MAX_INTEGER
from tripcompanion.currency.amounts import EXPONENTS
from trips.models import JournalEntry, Member, Trip
from trips.models.category import budgets_text
from trips.models.default_division import division_text, renamed_division
from trips.models.events import Event, trip_objects
from trips.models.joining import require_trip_quota
from trips.models.journal import Entry, plain_fields, write
from trips.roles import CREATOR_ROLE, DEFAULT_ROLE
from trips.serializers import GuestRequest, TripRequest
from users.models import User
from users.models.token import require_scopes

#: Former ids become negative, so that they keep their order and are never those of others.
_FORMER = MAX_INTEGER
#: How many expenses a trip may have recorded, so that it can record as many again.
MAX_RECORDED = 10**9

#: What a value raises that no row can have.
_WRONG = (ValidationError, DjangoValidationError, TypeError, ValueError)

Ids = dict[int, int]
Row = Mapping[str, Any]


class _OrNobody(dict[int, int]):
    """Ids by the ids in the file; whoever is not in the file gets one that nobody has.

    A guest whom no row names is gone when removed, but what is stored as JSON may name them.
    """

    def get(self, key: int, default: Any = None) -> int:
        return self[key]

    def __missing__(self, key: int) -> int:
        # If the trip in the file was itself made from a file, this is already such an id.
        return max(key, MAX_INTEGER - key)


def trip_from(file: OwnFile, by: User, own_id: int | None = None) -> "Copy":
    """Make the trip in `file`, with `by` as its OWNER; everybody else becomes a guest.

    The person with the id `own_id` is `by`; without one, that with the address of `by`. Raises
    `UnreadableFile`, `InsufficientScope`, `LimitReached` if `by` has too many trips or the file is
    too large, and `TooManyDebts`.
    """
    if file.first("format") != FORMAT or file.first("version") != VERSION:
        raise UnreadableFile("unknown_version")
    _require_scopes(file, by)
    _require_room(file)
    with transaction.atomic():
        account = User.objects.active().locked(by.pk)
        require_trip_quota(account)
        try:
            with transaction.atomic():
                made = Copy(file, account, own_id)
                made.make()
        except (DataError, IntegrityError, UnicodeEncodeError) as error:
            raise UnreadableFile("contradiction") from error
        joined = Entry(Event.MEMBER_JOINED, by.pk, {"role": (None, CREATOR_ROLE)})
        write(made.trip.pk, by, joined)
    made.trip.caller_role = CREATOR_ROLE
    return made


def _require_scopes(file: OwnFile, by: User) -> None:
    """Raise `InsufficientScope` if the file has objects that the token of `by` may not write."""
    areas = {kind.rows().model: kind.area for kind in trip_objects().values()}
    tables = [table for table in TABLES if table.model in areas]
    with_rows = [table for table in tables if next(file.items(f"{table.name}.item"), None)]
    require_scopes(by, {f"{areas[table.model]}:write" for table in with_rows})


def _require_room(file: OwnFile) -> None:
    """Raise `LimitReached` or `TooManyDebts` before the first write if the file is too large."""
    # Models of plugins say how many rows a trip may have.
    limited = [(one, limit) for one in TABLES if (limit := getattr(one.model, "limit", None))]
    for count, limit in (
        (_count(file, "people"), PEOPLE_FOR_EACH * settings.QUOTA_MEMBERS),
        (sum(left is None for left in _values(file, "members", "leftAt")), settings.QUOTA_MEMBERS),
        *((_most_on_one(file, name), rows.limit) for name, rows in added_rows().items()),
        *((_count(file, table.name), limit) for table, limit in limited),
    ):
        LimitReached.require_at_most(limit, count)
    TooManyDebts.require_at_most(MAX_OPEN_DEBTS, sum(map(bool, _values(file, "debts", "open"))))


def _count(file: OwnFile, table: str) -> int:
    return sum(1 for _row in file.items(f"{table}.item"))


def _most_on_one(file: OwnFile, table: str) -> int:
    """How many rows of a table the expense has that has most of them."""
    counted = Counter(pk for pk in _values(file, table, "expenseId") if type(pk) is int)
    return max(counted.values(), default=0)


def _values(file: OwnFile, table: str, name: str) -> Iterator[Any]:
    rows = enumerate(file.items(f"{table}.item"), start=1)
    return (_get(row, name, line) for line, row in rows)


class Copy:
    """A new trip, and the new ids of the rows of the file by those in it, by their tables."""

    trip: Trip

    def __init__(self, file: OwnFile, by: User, own_id: int | None) -> None:
        self.file, self.by, self.own_id = file, by, own_id
        #: The fields that check the values of each table.
        self._requests = {
            table: table.request().fields if table.request else {} for table in (TRIP, *TABLES)
        }
        self.ids: dict[type[Model], Ids] = defaultdict(dict)
        #: The names of the guests, by the ids in the file.
        self.names: dict[int, str] = {}
        #: The currencies of the expenses that are not in that of the trip, by their new ids.
        self.currencies: dict[int, str] = {}

    def make(self) -> None:
        row = self.file.first(TRIP.name)
        self.currency = _checked(TripRequest().fields["currency"], row, "currency", 1)
        self._add_people()
        self.claimed = _get(row, "claimedGuests", 1)
        self.places = self._places("")
        self.trip = self._instance(TRIP, row, 1)
        self.trip.claimed_guests = self._order(self.places)
        self.trip.save(force_insert=True)
        self.ids[Trip][_id(row, 1)] = self.trip.pk
        *tables, history = TABLES
        for table in tables:
            for chunk in _chunks(self._rows(table)):
                self._insert(table, chunk)
        rows = self.file.items(f"{history.name}.item")
        for entries in _chunks(imported_history(rows, self.trip, self.ids, self.names)):
            JournalEntry.objects.bulk_create(entries)
        self._require_sound()
        for table in tables:
            if table.finish:
                table.finish(self.trip)

    def _add_people(self) -> None:
        """Make a guest of everybody but the caller."""
        name = GuestRequest().fields["name"]
        key = self.by.email_key
        for chunk in _chunks(enumerate(self.file.items("people.item"), start=1)):
            guests = {}
            for line, row in chunk:
                email = _get(row, "email", line)
                person_id = _id(row, line)
                if person_id in self.ids[User] or person_id in guests:
                    raise UnreadableFile("bad_value", line, name="id")
                if self.own_id is None and isinstance(email, str) and email.casefold() == key:
                    self.own_id = person_id
                if person_id == self.own_id:
                    self.ids[User][person_id] = self.by.pk
                else:
                    guest = User(name=_checked(name, row, "name", line), is_guest=True)
                    guest.is_active = False
                    guest.set_unusable_password()
                    guests[person_id] = guest
            User.objects.bulk_create(list(guests.values()))
            self.ids[User] |= {person_id: guest.pk for person_id, guest in guests.items()}
            self.names |= {person_id: guest.name for person_id, guest in guests.items()}

    def _places(self, merged: str) -> Places:
        """Where the people stand in the order of odd cents, by their ids in the file."""
        try:
            places = few_places(self.claimed, merged)
        except (ValueError, TypeError, AttributeError) as error:
            raise UnreadableFile("bad_value", name="claimedGuests") from error
        return {person_id: place_of(person_id, places) for person_id in self.ids[User]}

    def _order(self, places: Places) -> str:
        """The text by which odd cents fall to the same people as before."""
        people = self.ids[User]
        last_first = sorted(places, key=places.__getitem__, reverse=True)
        return " ".join(f"{people[pk]}:{places[pk][0] - _FORMER}" for pk in last_first)

    # -- Rows --------------------------------------------------------------------------------------

    def _rows(self, table: Table) -> Iterator[tuple[int | None, Any]]:
        """The rows of a table as unsaved instances, each with the id that it had."""
        for line, row in enumerate(self.file.items(f"{table.name}.item"), start=1):
            made = self._instance(table, row, line)
            if table.model is Member:
                self._fit_member(made)
            if table.model is Expense:
                self._fit_expense(made)
            if table.fit:
                table.fit(made, self.ids)
            yield (_id(row, line) if "id" in row else None), made

    def _instance(self, table: Table, row: Row, line: int) -> Any:
        """An unsaved row, without its id."""
        if not isinstance(row, dict):
            raise UnreadableFile("not_an_object", line)
        checked = self._requests[table]
        plain = {*plain_fields(table.model), "currency"} & checked.keys()
        made: Any = table.model()
        if table.model is not Trip:
            made.trip_id = self.trip.pk
        for column in table.columns:
            name, attname = column.name, column.field.attname
            if attname == "id" or (name not in row and column.field.has_default()):
                continue
            shown = _get(row, name, line)
            entered = "currency" if attname == "foreign_currency" and shown else name
            try:
                if column.is_json:
                    value = self._stored_text(table, made, name, shown, line)
                elif entered in plain:
                    # The text of a comment is empty once its author is gone.
                    is_gone = (name, shown) == ("text", "")
                    value = "" if is_gone else checked[entered].run_validation(shown)
                else:
                    value = self._value(column, shown, self._currency_of(column, made, row))
            except _WRONG as error:
                raise UnreadableFile("bad_value", line, name=name) from error
            setattr(made, attname, value)
        return made

    def _stored_text(self, table: Table, made: Any, name: str, shown: Any, line: int) -> str | None:
        """A JSON value as it is stored, with the new ids of people.

        A recurring expense may name somebody of whom nothing else in the file tells.
        """
        people = _OrNobody(self.ids[User])
        if table.stored:
            return table.stored(shown, people)
        if isinstance(made, Trip):
            field = TripRequest(context={"is_lenient": True}).fields[name]
            value = field.run_validation(shown)
            if name == "categoryBudgets":
                return budgets_text(value, self.currency)
            return division_text(value and renamed_division(value, people))
        if shown is None:
            return None
        return items_from(shown, made.currency, people, line).text(made.currency)

    def _currency_of(self, column: Column, made: Any, row: Row) -> str:
        """The currency of an amount: of what was entered, or else that of the trip."""
        if column.field.attname not in AS_ENTERED:
            return self.currency
        if isinstance(made, Expense | Settlement):
            code = row.get("currency" if isinstance(made, Expense) else "foreignCurrency")
            return code if isinstance(code, str) and code in EXPONENTS else self.currency
        return self.currencies.get(made.expense_id, self.currency)

    def _value(self, column: Column, value: Any, currency: str) -> Any:
        """A value of the file as it is stored. Raises one of `_WRONG`."""
        field: Any = column.field
        if value is None and field.null:
            return None
        exponent = column.exponent(currency)
        if _is_loose(field) and is_id(value):
            return value
        if isinstance(field, ForeignKey):
            value = self.ids[field.related_model].get(value) if type(value) is int else None
        elif exponent is not None:
            value = _whole(value, exponent)
        elif isinstance(field, DateTimeField):
            value = instant(value)
        if value is None or isinstance(value, dict | list):
            raise TypeError("not a value of the column")
        return value if isinstance(field, ForeignKey) else field.clean(value, None)

    def _fit_member(self, member: Member) -> None:
        is_caller = member.user_id == self.by.pk
        member.role = CREATOR_ROLE if is_caller else DEFAULT_ROLE
        if is_caller:
            member.left_at = None

    def _fit_expense(self, expense: Expense) -> None:
        if expense.merged_guests:
            places = self._places(expense.merged_guests)
            changed = {place[0] for pk, place in places.items() if place != self.places[pk]}
            # Those who stand at the same id, too: what is written later comes first.
            beside = {pk: place for pk, place in places.items() if place[0] in changed}
            expense.merged_guests = self._order(beside)

    def _insert(self, table: Table, rows: list[tuple[int | None, Any]]) -> None:
        made = [row for _id, row in rows]
        table.model._base_manager.bulk_create(made)
        known = self.ids[table.model]
        for old_id, row in rows:
            if old_id in known:
                raise UnreadableFile("repeated_id", table=table.name, id=old_id)
            if old_id is not None:
                known[old_id] = row.pk
            if table.model is Expense and row.currency != self.currency:
                self.currencies[row.pk] = row.currency
        for field in filter(_is_loose, table.model._meta.concrete_fields):
            referring = [row for row in made if getattr(row, field.attname) is not None]
            for row in referring:
                setattr(row, field.attname, known.get(getattr(row, field.attname)))
            table.model._base_manager.bulk_update(referring, [field.name])

    # -- Afterwards --------------------------------------------------------------------------------

    def _require_sound(self) -> None:
        """Add who is missing, and raise `UnreadableFile` if the ledger is not sound."""
        members = self.trip.members
        missing = {*self.ids[User].values(), self.by.pk} - {*members.values_list("user", flat=True)}
        # Administrators who acted in a trip need not have been members of it.
        strangers = {"role": DEFAULT_ROLE, "left_at": timezone.now()}
        roles = {pk: {"role": CREATOR_ROLE} if pk == self.by.pk else strangers for pk in missing}
        rows = (Member(trip=self.trip, user_id=pk, **roles[pk]) for pk in sorted(missing))
        Member.objects.bulk_create(rows)
        LimitReached.require_at_most(settings.QUOTA_MEMBERS, members.present().count())
        if Allocation.objects.filter(trip=self.trip, settlement=None).exists():
            # The file is from before there were offsets.
            offset_closings(connection, self.trip.pk)
        last = self.trip.expenses.aggregate(last=Max("number", default=-1))["last"]
        if not last < self.trip.expenses_recorded <= MAX_RECORDED:
            raise UnreadableFile("bad_value", name="expensesRecorded")
        if any(differences(self.trip.pk)):
            raise UnreadableFile("contradiction")


def _is_loose(field: Any) -> bool:
    """Whether a column refers to an earlier row of its table, which may be gone."""
    is_own = isinstance(field, ForeignKey) and field.related_model is field.model
    return is_own and not field.db_constraint


def _chunks(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while chunk := list(islice(rows, CHUNK_ROWS)):
        yield chunk


def _get(row: Any, name: str, line: int) -> Any:
    if not isinstance(row, dict) or name not in row:
        raise UnreadableFile("missing_field", line, name=name)
    return row[name]


def _id(row: Any, line: int) -> int:
    found = _get(row, "id", line)
    if not is_id(found):
        raise UnreadableFile("bad_value", line, name="id")
    return found


def _checked(field: Any, row: Any, name: str, line: int) -> Any:
    """A value as a request may send it."""
    try:
        return field.run_validation(_get(row, name, line))
    except ValidationError as error:
        raise UnreadableFile("bad_value", line, name=name) from error


def _whole(value: Any, exponent: int) -> int | None:
    """A number of major units as whole minor units; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    whole = int(Decimal(value).scaleb(exponent))
    return whole if Decimal(whole).scaleb(-exponent) == value else None
