"""The class of every app of the service, and what an app may add to the others.

The apps of the core and all plugins are `Plugin`s. What has to know all of them (the routes,
the OpenAPI document, roles, the export of a person, deletion, pruning, metrics, the trip file, the
admin site) loops over `plugins()` and asks; it names none. A hook that an app leaves alone adds
nothing. Hooks import what they need when they are called, because models are not loaded before.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple
from zipfile import ZipInfo

import yaml
from django.apps import AppConfig, apps

from tripcompanion.environment import refuse

if TYPE_CHECKING:
    from django.db.models import Model, Q, QuerySet
    from rest_framework.exceptions import APIException

#: Where routes can be added: below /api, below the path of a trip, of an expense or of the caller's
#: account, and outside of the API. They are the names of lists in the `urls` of an app.
Place = Literal["API", "TRIP", "EXPENSE", "ME", "PAGES"]
#: Writes the content of a file into another one.
WriteFile = Callable[[IO[bytes]], Any]
#: Names of rows in the plural, each with querysets of them.
Outdated = Iterator[tuple[str, list["QuerySet[Any]"]]]
#: Of the columns that store an event.
MAX_EVENT_CHARS = 24
_EVENT = re.compile(r"[a-z_]+\.[a-z_]+")


class TripTable(NamedTuple):
    """A table in the file of a trip: every column of the model, but those that are left out.

    A file may say anything, so what it says is checked before it becomes a row again.
    """

    name: str
    model: type["Model"]
    #: Columns that mean nothing outside of the service, besides `trip_id`, or are for it alone.
    left_out: tuple[str, ...] = ()
    #: Where the currency of `entered_minor` and `foreign_minor` is; the trip's without it.
    entered_in: str = ""
    order: str = "pk"
    #: Which of the rows are in the file.
    only: Callable[[], "Q"] | None = None
    #: A serializer whose fields check texts, dates and choices as those of a request.
    request: type[Any] | None = None
    #: Whether the rows of a file are made again.
    is_restored: bool = True
    #: A JSON value of a file as it is stored, with the new ids of people. Raises `ValidationError`.
    stored: Callable[[Any, Mapping[int, int]], str] | None = None
    #: Changes the columns of a row before they are written: every member may read the file.
    written: Callable[[dict[str, Any]], None] | None = None
    #: Completes an unsaved row with new ids, which are by the ids in the file, by their models.
    fit: Callable[[Any, Mapping[Any, Mapping[int, int]]], None] | None = None
    #: What is done in the new trip after all rows are there.
    finish: Callable[[Any], None] | None = None


class Searched(NamedTuple):
    """What the search reads of objects of a type, as lookups."""

    #: Columns of one table with what people wrote.
    texts: tuple[str, ...]
    #: What the object is called; without a name of its own, by its trip.
    title: str = "trip__title"
    #: When it was made.
    at: str = "created_at"


class TripObject(NamedTuple):
    """A type of object in a trip, as its own endpoint shows it."""

    #: A scoped token sees it with the scope `area:read`.
    area: str
    #: The rows that are not deleted, an `InTripQuerySet` with what the serializer shows.
    rows: Callable[[], Any]
    serializer: type[Any]
    #: The lookups of the trip and of the id in the path.
    trip: str = "trip_id"
    key: str = "pk"
    #: None if the search does not find it.
    searched: Searched | None = None
    #: Whether `rows` can be compiled: the same for all readers; see `tripcompanion.compiled`.
    is_compiled: bool = False
    #: How many parts each of these ids is shown with, if there may be thousands; else None.
    parts: Callable[[Collection[int]], Mapping[int, int]] | None = None


class TripField(NamedTuple):
    """A field in the answer of one trip: its shape, and its value for a reader, in SQL."""

    shape: Any
    value: Callable[[Any], Any]


class TripFilter(NamedTuple):
    """A parameter of the list of trips."""

    #: The field of a serializer, which is not required and has no default.
    field: Any
    #: Filters or orders the trips of a reader by its value; None if it was not sent.
    rows: Callable[[Any, Any, Any], Any]


class ExpenseRows(NamedTuple):
    """Rows that belong to an expense: deleted and restored with it, searched and audited.

    The model is an `InTrip` with an author in `created_by`. Its foreign key `expense` has
    `on_delete=CASCADE` and `db_constraint=False`, so that without the app expenses can be deleted.
    """

    model: type[Any]
    #: The type of the object; see `objects`.
    kind: str
    #: The column with what people wrote, which the search of expenses reads.
    text: str
    #: How many an expense may have.
    limit: int
    #: Writes rows of an author in a locked trip: pairs of the id of an expense and a text.
    add: Callable[[Any, Any, Iterable[tuple[int, str]]], None]


class ExpenseField(NamedTuple):
    """A field of expenses that the app stores in a table of its own: bodies and answers have it."""

    #: The fields of a serializer; a body that replaces an expense takes the default of the first.
    request: Any
    response: Any
    #: The stored value as an expression, in which `OuterRef` of its argument is the expense's id
    #: and `OuterRef("trip")` the trip.
    stored: Callable[[str], Any]
    #: Raises `ValidationError` unless expenses of the trip may have the value.
    check: Callable[[Any, Any], None]
    #: Stores a value for an expense, under the trip's lock.
    store: Callable[[Any, Any], None]


class PersonalList(NamedTuple):
    """Rows about a user in the export of their account."""

    #: In snake case.
    name: str
    #: The serializer of a row.
    shape: type[Any]
    help_text: str
    #: The rows of a user, oldest first.
    of: Callable[[Any], "QuerySet[Any]"]


class MailText(NamedTuple):
    """A mail to an account: its name in the admin site, its subject, and its text."""

    label: Any
    subject: Any
    text: Any
    #: For a mail to an address without an account: its link, or empty if nothing is to be sent.
    link: Callable[[Any], str] | None = None
    #: For mails that are sent as one: the message of a mail and its account with all that is due,
    #: if one is to be sent now, and the rows that are done with it.
    collect: Callable[[Any, Any], tuple[Any, "QuerySet[Any]"]] | None = None


class AccountField(NamedTuple):
    """A field of accounts, which other users see as null."""

    #: The fields of a serializer in answers and in changes; in answers, its source is `*`.
    response: Any
    request: Any
    #: The columns of an account that store a value.
    stored: Callable[[Any], Mapping[str, Any]]


class LoginMethod(NamedTuple):
    """A field in the answer that says how people can log in: its shape, and its value."""

    shape: Any
    value: Callable[[], Any]


class AssistantTool(NamedTuple):
    """A tool for assistants: a request such as `GET /api/trips/{trip}`; what is in braces are ids.

    Its arguments are these ids and the fields of the body or of the query. A trip and people may
    be named instead.
    """

    description: str
    request: str
    is_destructive: bool = False


class Notice(NamedTuple):
    """A line in a mail about trips: the label of the mail, and a sentence with a colon."""

    label: Any
    sentence: Any
    #: Whether new accounts want it once they turn notices on.
    at_first: bool = False


class Plugin(AppConfig):
    """An app of the service. `add_plugins` reads the settings of its module `settings`."""

    # Of the classes in a module `apps`, Django takes the only one that is a default.
    default = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.default = True

    #: The plugins whose models or hooks it uses; the service does not start without them.
    requires: ClassVar[tuple[str, ...]] = ()

    def import_models(self) -> None:
        """Stop the process, with one line, without what it requires or with a wrong event."""
        for name in [name for name in self.requires if not apps.is_installed(name)]:
            refuse(f"PLUGINS: {self.name} requires {name}.")
        for event in self.events:
            if len(event) > MAX_EVENT_CHARS or not _EVENT.fullmatch(event):
                refuse(f"PLUGINS: {self.name} has the event {event}; see Plugin.events.")
        super().import_models()

    # -- The API -----------------------------------------------------------------------------------

    def _in_module(self, module: str, name: str, default: Any) -> Any:
        """What has this name in a module of the app, if there is one."""
        path = f"{self.name}.{module}"
        return default if find_spec(path) is None else getattr(import_module(path), name, default)

    def routes(self, place: Place) -> list[Any]:
        """The routes that its module `urls` adds at a place, in the order of the document."""
        return self._in_module("urls", place, [])

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """What its `document.yaml` says in the OpenAPI document.

        `tags`: the description of each group of operations. `enums`: the choices behind each enum
        schema, as a dotted name. `schemas` and `parameters`: descriptions of those without one.
        The requests of its `examples.yaml` become the examples.
        """
        file = Path(self.path, "document.yaml")
        return read_yaml(file) if file.exists() else {}

    def rights(self) -> Mapping[Any, Mapping[Any, Any]]:
        """Rows for the table of `trips.roles`: what each role may do with a new capability.

        By default, the `TABLE` of its module `rights`.
        """
        return self._in_module("rights", "TABLE", {})

    #: The scopes of its areas, such as `storms:read` and `storms:write`, with what each allows.
    #: The area is the `scope_prefix` of viewsets and the `area` of `objects`. The text continues
    #: a page that asks whether a program may: "See the storms of your trips".
    scopes: ClassVar[Mapping[str, Any]] = {}

    #: What can happen, as the journal names it (`type.what`), each with its sentence.
    #: A name has at most `MAX_EVENT_CHARS` small letters, `_` and the full stop. It needs no
    #: migration: the history, its filters, webhooks and the document know it.
    #: A sentence may name `%(by)s`, `%(who)s`, `%(what)s`, `%(changes)s` and `%(amount)s`.
    events: ClassVar[Mapping[str, Any]] = {}

    def objects(self) -> Mapping[str, TripObject]:
        """The types of objects that its events are about, by the first part of their names.

        Webhooks and `/api/changes` show them as they are now. The history shows events to whoever
        may see the object; those without one to tokens with `expenses:read`.
        """
        return {}

    #: What a sentence calls a field of an expense that only this app changes.
    phrases: ClassVar[Mapping[str, Any]] = {}

    #: Tools for assistants, by names that no other has, such as `add_thing`.
    tools: ClassVar[Mapping[str, AssistantTool]] = {}

    def expense_rows(self) -> Mapping[str, ExpenseRows]:
        """Tables with rows that belong to an expense, by names in which deleted ones are kept."""
        return {}

    def expense_fields(self) -> Mapping[str, ExpenseField]:
        """Fields of expenses, by their names in snake case. None stands for no value."""
        return {}

    def expense_filters(self) -> Mapping[str, Any]:
        """Filters of django-filter for the list of expenses, by their parameters.

        They are asked for once, while `splits.filters` is imported, and come after its own.
        """
        return {}

    #: Paths in the root of the API, by their names, for whoever has logged in.
    links: ClassVar[Mapping[str, str]] = {}

    def trip_options(self) -> Mapping[str, Any]:
        """Fields of a serializer that a change of a trip takes besides those that are stored.

        `trips.signals.trip_changed` has what was sent.
        """
        return {}

    def trip_fields(self) -> Mapping[str, TripField]:
        """Fields in the answer of one trip, by their names; `If-Match` ignores them."""
        return {}

    def trip_filters(self) -> Mapping[str, TripFilter]:
        """Parameters of the list of trips, by their names in snake case."""
        return {}

    # -- A person ----------------------------------------------------------------------------------

    def personal_data(self) -> Iterable[PersonalList]:
        """The lists about a user in the export of an account.

        A new model with personal data must be in one of them.
        """
        return ()

    def personal_files(self, user: Any) -> Iterator[tuple[str | ZipInfo, WriteFile]]:
        """The files of an account's archive: a name, or a `ZipInfo` to store it as it is."""
        return iter(())

    def file_problems(self) -> Iterable[type["APIException"]]:
        """What writing `personal_files` may raise, for the OpenAPI document."""
        return ()

    def traces(self, account: Any) -> Iterable["QuerySet[Any]"]:
        """Rows in whose trips `forget` changes something, beside those where it is a member."""
        return ()

    def forget(self, account: Any, by: Any) -> None:
        """Delete or empty what an account that ends has and wrote; `by` deletes the account.

        Its row is locked, and so are the trips that it was in and those of `traces`.
        """

    def revoked(self, trip_id: int, user_id: int, *, is_deleted: bool) -> Iterable[Any]:
        """Revoke what somebody made in a trip and may no longer make; return the journal entries.

        Called under the lock of the trip after their role has changed or their membership has
        ended. With `is_deleted`, they are a guest whose row is deleted next; nothing may name it.
        """
        return ()

    def log_in_step(self, request: Any, user: Any) -> str:
        """The name of a page that this log-in in a browser needs after the password; or empty.

        Until it is empty, all views but such pages see an anonymous user. The page gets `next`,
        where it leads to; `users.log_in.half_authenticated` tells it who it is.
        """
        return ""

    def login_methods(self) -> Mapping[str, LoginMethod]:
        """Ways to log in to the API besides the password, by names in snake case."""
        return {}

    def require_log_in(self, request: Any, user: Any) -> None:
        """Raise one of `log_in_problems` if a log-in to the API lacks a step.

        It is called once the password or what stands for it was right, before tokens are issued.
        Whoever has done the step calls `users.tokens.log_in` with `is_complete`.
        """

    def log_in_problems(self) -> Iterable[type["APIException"]]:
        """What `require_log_in` may raise, for the OpenAPI document."""
        return ()

    def require_new_address(self, request: Any, user: Any) -> None:
        """Raise `LogInAgain` if `user`, who sends their password, may not set a new address yet.

        Whoever receives mails at an address that is not confirmed can take the account over.
        """

    def mails(self) -> Mapping[str, MailText]:
        """The mails that it queues with `Mail.objects.tell`, by at most 16 capital letters.

        They contain no text that a user entered. By default, the `MAILS` of its module `mails`.
        """
        return self._in_module("mails", "MAILS", {})

    #: The events that members may be mailed about, if an app sends such mails. Their names have at
    #: most 16 characters. The command that writes one sends `trips.signals.happened` with it.
    notices: ClassVar[Mapping[str, Notice]] = {}

    def account_fields(self) -> Mapping[str, AccountField]:
        """Fields of accounts, by their names in snake case, before `may_be_added`."""
        return {}

    # -- Operating ---------------------------------------------------------------------------------

    #: Its commands that are a `WatchCommand`; `tripcompanion work` runs all in one process.
    watchers: ClassVar[tuple[str, ...]] = ()
    #: Commands with arguments that `tripcompanion run` and `make run` begin with.
    first_commands: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def outdated(self, now: datetime, month_ago: datetime) -> Outdated:
        """The rows that `prune` deletes: a name in the plural, and a queryset for each reason.

        Each queryset is in the order of a column that has an index, the oldest first; see `until`.
        What can be of use to an administrator is kept until `month_ago`. If deleting the rows is
        not enough, the queryset has a method `purge`, which deletes them in small transactions and
        returns how many there were.
        """
        return iter(())

    def sweep(self, *, dry_run: bool) -> Iterator[tuple[str, int]]:
        """Delete what rows left outside of the database: a name in the plural, and how many.

        `prune` calls it after all rows are deleted. Raises `CommandError`.
        """
        return iter(())

    def figures(self) -> Iterator[Any]:
        """Metrics from the database for `/metrics`, each bounded by an index."""
        return iter(())

    def demo(self, trip: Any, people: Mapping[str, Any]) -> None:
        """Add rows to the first trip of the demo; `people` are its members, `olga` the owner."""

    def trip_tables(self) -> Iterable[TripTable]:
        """Tables in the file of a trip, each after those to which its rows refer."""
        return ()

    def calendar(self, trips: list[Any], limit: int) -> Iterable[Mapping[str, Any]]:
        """Entries in calendars of these trips, at most `limit`, the last ones by their day.

        They are properties of RFC 5545 by name: `uid` (`poll-7`), `summary`, `dtstart` (a date, or
        a time without a zone), `dtstamp` (when it last changed), and any others.
        """
        return ()

    def trip_boxes(self) -> Iterable[Callable[[Any], str]]:
        """Fields on the page of a trip in the admin site, below its expenses.

        Each is a function of the trip that `admin.display` describes, as in `readonly_fields`.
        """
        return ()


def until(moment: datetime, model: Any, column: str) -> "QuerySet[Any]":
    """The rows whose `column` is not after `moment`, oldest first; for `Plugin.outdated`."""
    return model.objects.filter(**{f"{column}__lte": moment}).order_by(column)


def read_yaml(path: Path) -> Any:
    """The data in a file. If PyYAML was built with libyaml, that takes a tenth of the time."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_text(encoding="utf-8"), loader)  # noqa: S506 -- a safe one


def plugins() -> list[Plugin]:
    """The apps of the service, those of the core first."""
    return [app for app in apps.get_app_configs() if isinstance(app, Plugin)]
