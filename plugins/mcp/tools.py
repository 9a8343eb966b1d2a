"""The tools, and what each asks of the API.

Most tools are one operation of the API, or a few whose answers belong together. Their arguments
are the parameters and the fields of the body, as `schemas.json` has them from the OpenAPI document;
trips, expenses and people can be named in place of ids.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from django.urls import resolve

from plugins.mcp.inner import Api, ToolFailed, without_null
from plugins.mcp.names import InTrip, answered_trips, id_of
from plugins.mcp.shapes import properties_of
from tripcompanion.api.rendering import ExactJSONRenderer
from tripcompanion.environment import refuse
from tripcompanion.plugin import plugins
from trips.roles import TripRole
from users.models.token import ScopedToken
from users.permissions import scopes_for

#: Arguments that are no field of the API.
REFERENCES: Mapping[str, str] = {
    "trip": "The trip: its id or its title.",
    "expense": "The expense: its id or its description.",
    "person": 'Whose part: a user id, a name, an e-mail address, or "me".',
    "settlement": "The id of the settlement.",
}
#: Rows of a page, unless another number is asked for: an assistant reads all of them.
PAGE_SIZE = 10
KEY = "idempotencyKey"
_NAMES = re.compile(r"{(\w+)}")
#: What stands in braces in a path, and is found by something else.
_NO_REFERENCES = frozenset({"me", "split", "import_id"})
#: How long a file may be in an answer.
MOST_CHARS = 100_000
#: How long the line of an expense is at least, in any file.
_LEAST_CHARS = 50
#: How many of the newest trips a search without a trip looks through.
_SEARCHED_TRIPS = 10


@cache
def schemas() -> Mapping[str, Any]:
    """The JSON schema of the arguments of each tool.

    `make schema` writes those of the core from openapi.yaml.
    """
    own = json.loads(Path(__file__).with_name("schemas.json").read_text())
    return own | {name: arguments_of(tool) for name, tool in _ADDED.items()}


class Call(NamedTuple):
    """A request to the API; what stands in braces in the path are ids."""

    method: str
    path: str

    def references(self) -> list[str]:
        """The arguments that the path needs."""
        named = [name for name in _NAMES.findall(self.path) if name not in _NO_REFERENCES]
        return [*named, "person"] if "{split}" in self.path else named

    @property
    def view(self) -> Any:
        """The view that answers it, with its actions by methods."""
        return resolve(_NAMES.sub("1", self.path)).func


class Tool(NamedTuple):
    """A tool: its `calls` by the names that their answers have in the result.

    A single call has no name, and its answer is the result. `takes` is the operation of the OpenAPI
    document whose parameters and body are arguments.
    """

    description: str
    calls: Mapping[str, Call]
    takes: str = ""
    is_destructive: bool = False
    #: Further arguments, which are not in the path: names are looked up with them.
    also: tuple[str, ...] = ()
    run: Callable[["Tool", Api, dict[str, Any]], Any] | None = None
    #: Arguments that are neither references nor fields of an operation, with their schemas.
    own: Mapping[str, Mapping[str, Any]] = {}
    #: Which of the arguments are needed, where that does not follow.
    needed: tuple[str, ...] = ()

    @property
    def only_reads(self) -> bool:
        return self.takes == "previewExpense" or all(c.method == "GET" for c in self.calls.values())

    @property
    def takes_key(self) -> bool:
        """Whether it takes an idempotency key."""
        return not self.only_reads and any(call.method == "POST" for call in self.calls.values())

    @property
    def references(self) -> list[str]:
        """The arguments that say what it is about."""
        named = [name for call in self.calls.values() for name in call.references()]
        return list(dict.fromkeys([*self.also, *named]))

    @property
    def is_installed(self) -> bool:
        """Whether its paths exist; those of a plugin that is left out are pages for nothing."""
        return all(hasattr(call.view, "cls") for call in self.calls.values())

    def is_open_to(self, token: Any) -> bool:
        """Whether a caller with this token, or with a session, may use it in principle."""
        if not self.is_installed:
            return False
        if not isinstance(token, ScopedToken):
            return True
        for call in self.calls.values():
            needed = scopes_for(call.view.cls, call.method)
            if not needed or not {*needed} <= {*token.limits.scopes}:
                return False
        return True

    def definition(self, name: str) -> dict[str, Any]:
        """As `tools/list` shows it."""
        return {
            "name": name,
            "description": self.description,
            "inputSchema": schemas()[name],
            "annotations": {
                "readOnlyHint": self.only_reads,
                "destructiveHint": self.is_destructive,
                "openWorldHint": False,
            },
        }

    def result(self, name: str, api: Api, arguments: Mapping[str, Any]) -> Any:
        """What it answers. Raises `ToolFailed`."""
        known = schemas()[name]["properties"]
        if unknown := sorted(arguments.keys() - known.keys()):
            raise ToolFailed(
                f"Unknown arguments: {', '.join(unknown)}. It takes {', '.join(known) or 'none'}."
            )
        if missing := [one for one in schemas()[name]["required"] if arguments.get(one) is None]:
            raise ToolFailed(f"Give {' and '.join(missing)}.")
        sent = dict(arguments)
        api.key = sent.pop(KEY, None) or self._default_key(name, sent)
        if not isinstance(api.key, str):
            raise ToolFailed(f"{KEY} must be text.")
        return self.run(self, api, sent) if self.run else self._call(api, name, sent)

    def _call(self, api: Api, name: str, arguments: dict[str, Any]) -> Any:
        """The answers to its calls."""
        ids = self._ids(api, arguments)
        if "pageSize" in schemas()[name]["properties"]:
            arguments.setdefault("pageSize", PAGE_SIZE)
        answers = {
            label: api.send(
                call.method,
                call.path.format(**ids),
                query=arguments if call.method == "GET" else None,
                body=arguments if self.takes and call.method != "GET" else None,
            )
            for label, call in self.calls.items()
        }
        return answers.get("", answers)

    def _default_key(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The same for equal calls, so that a repeated one creates nothing twice.

        A tool without a body restores something, and an equal call may do so after each deletion.
        """
        if not (self.takes and self.takes_key):
            return ""
        text = json.dumps([name, arguments], sort_keys=True, default=str)
        return f"mcp-{hashlib.sha256(text.encode()).hexdigest()}"

    def _ids(self, api: Api, arguments: dict[str, Any]) -> dict[str, Any]:
        """The ids in the paths; what is left in `arguments` has ids in place of names."""
        ids: dict[str, Any] = {"me": api.caller.pk}
        if "trip" not in self.references:
            return ids
        scene = InTrip(api, arguments.pop("trip"))
        ids["trip"] = scene.id
        if "expense" in self.references:
            is_deleted = any(call.path.endswith("/restore") for call in self.calls.values())
            ids["expense"] = scene.expense_id(arguments.pop("expense"), deleted=is_deleted)
        if "settlement" in self.references:
            ids["settlement"] = scene.settlement_id(arguments.pop("settlement"))
        for name in self.references:
            if name not in REFERENCES:
                ids[name] = id_of(arguments.pop(name))
                if ids[name] is None:
                    raise ToolFailed(f"Give the id of the {name}.")
        if "person" in self.references:
            ids["split"] = scene.split_id(ids["expense"], arguments.pop("person"))
        for field in arguments:
            arguments[field] = scene.with_ids(arguments[field], field)
        return ids


def _who_am_i(_tool: Tool, api: Api, _arguments: dict[str, Any]) -> Any:
    scoped = isinstance(api.token, ScopedToken)
    return {
        "id": api.caller.pk,
        "name": api.caller.name,
        "currency": api.caller.currency,
        "scopes": [str(scope) for scope in api.token.limits.scopes] if scoped else None,
    }


def _search(tool: Tool, api: Api, arguments: dict[str, Any]) -> Any:
    """Expenses that match, by trip: in one trip, or in the newest ones."""
    if arguments.get("trip") is not None:
        trips = [InTrip(api, arguments["trip"]).id]
    else:
        trips = [trip["id"] for trip in islice(answered_trips(api), _SEARCHED_TRIPS)]
    [call] = tool.calls.values()
    found = []
    for trip in trips:
        query = {"search": arguments["search"]}
        page = api.send(call.method, call.path.format(trip=trip), query | {"pageSize": PAGE_SIZE})
        if page["items"]:
            found.append({"tripId": trip, "total": page["total"], "expenses": page["items"]})
    return {"searchedTripIds": trips, "found": found}


def _add_person(_tool: Tool, api: Api, arguments: dict[str, Any]) -> Any:
    """A guest by a name; an account by its address or id."""
    trip = InTrip(api, arguments.pop("trip")).id
    person = without_null(arguments)
    is_account = not person.keys().isdisjoint({"email", "userId"})
    if is_account == ("name" in person):
        raise ToolFailed("Give the name of a guest, or the email or userId of an account.")
    path = f"/api/trips/{trip}/{'members' if is_account else 'guests'}"
    return api.send("POST", path, body=person)


def _plan(_tool: Tool, api: Api, arguments: dict[str, Any]) -> Any:
    trip = InTrip(api, arguments["trip"]).id
    payments = api.get(f"/api/trips/{trip}/settle-up")
    return {"result": payments, "tag": api.tag}


def _import(_tool: Tool, api: Api, arguments: dict[str, Any]) -> Any:
    """Plan the import of a text, or record what was planned."""
    if arguments.get("importId") is not None:
        if (import_id := id_of(arguments["importId"])) is None:
            raise ToolFailed("Give the importId that the plan has.")
        if sum(one is not None for one in arguments.values()) > 1:
            raise ToolFailed("Give the importId alone: the plan is recorded as it is.")
        return _without_rows(api.send("POST", f"/api/imports/{import_id}/confirm"))
    content = arguments.pop("content", None)
    if not isinstance(content, str) or not content:
        raise ToolFailed("Give the content of a file, or the importId of a plan.")
    if arguments.get("trip") is not None:
        arguments["tripId"] = InTrip(api, arguments.pop("trip")).id
    return _without_rows(api.send("POST", "/api/imports", form={**arguments, "file": content}))


def _without_rows(planned: dict[str, Any]) -> dict[str, Any]:
    """An import with its rows counted by outcome, and those alone that are not simply taken."""
    rows = planned.pop("rows", [])
    counts = Counter(row["outcome"] for row in rows)
    told = [
        {"line": row["line"], "outcome": row["outcome"], "notes": row["notes"]}
        for row in rows
        if row["outcome"] != "taken"
    ]
    return {**planned, "rowCounts": dict(counts), "rows": told[:PAGE_SIZE]}


def _export(_tool: Tool, api: Api, arguments: dict[str, Any]) -> Any:
    """The file as text."""
    trip = InTrip(api, arguments["trip"]).id
    kind = arguments.get("format")
    kind = "csv" if kind is None else kind
    types = {"csv": "text/csv", "json": "application/json"}
    # Not the keys themselves: a list or an object has no hash.
    if kind not in [*types]:
        raise ToolFailed("format is csv or json.", {"known": [*types]})
    path = f"/api/trips/{trip}/export"
    too_long = ToolFailed(f"The file is too long for an answer: download {path}?format={kind}.")
    # That of a long trip would take many seconds to write.
    if api.get(f"/api/trips/{trip}/expenses", pageSize=1)["total"] * _LEAST_CHARS > MOST_CHARS:
        raise too_long
    file = api.send("GET", path, accept=types[kind])
    content = file if isinstance(file, str) else ExactJSONRenderer().render(file).decode()
    if len(content) > MOST_CHARS:
        raise too_long
    return {"fileName": f"trip-{trip}.{kind}", "content": content}


def by_name(tools: Iterable[tuple[str, Tool]]) -> Mapping[str, Tool]:
    """The tools by their names. If two have the same, stop the process with one line."""
    found: dict[str, Tool] = {}
    for name, tool in tools:
        if found.setdefault(name, tool) is not tool:
            refuse(f"PLUGINS: two tools for assistants have the name {name}.")
    return found


_TEXT: Mapping[str, Any] = {"type": "string"}
#: Of plugins, each a request.
_ADDED: Mapping[str, Tool] = by_name(
    (
        name,
        Tool(
            tool.description,
            {"": Call(*tool.request.split())},
            "" if tool.request.startswith("DELETE") else name,
            tool.is_destructive,
            # An expense may be named, too, with its trip.
            ("trip",) if "{trip}" not in tool.request and "{expense}" in tool.request else (),
        ),
    )
    for name, tool in chain.from_iterable(app.tools.items() for app in plugins())
)
_EXPENSES = "/api/trips/{trip}/expenses"
_EXPENSE = f"{_EXPENSES}/{{expense}}"

_OWN: Mapping[str, Tool] = {
    "who_am_i": Tool("Whose account this is, and what the token may do.", {}, run=_who_am_i),
    "list_trips": Tool(
        "The caller's trips, the newest first.", {"": Call("GET", "/api/trips")}, "listTrips"
    ),
    "trip_overview": Tool(
        "A trip with its members, their balances, and the fewest payments that settle all.",
        {
            "trip": Call("GET", "/api/trips/{trip}"),
            "balances": Call("GET", "/api/trips/{trip}/balances"),
            "settleUp": Call("GET", "/api/trips/{trip}/settle-up"),
        },
    ),
    "create_trip": Tool(
        "Creates a trip; the caller becomes its owner.",
        {"": Call("POST", "/api/trips")},
        "createTrip",
    ),
    "change_trip": Tool(
        "Changes the given fields of a trip, which are those of create_trip.",
        {"": Call("PATCH", "/api/trips/{trip}")},
        "updateTrip",
        is_destructive=True,
    ),
    "add_person": Tool(
        "Adds a guest by name, or an account by e-mail address or id.",
        {"": Call("POST", "/api/trips/{trip}/members")},
        run=_add_person,
        own={
            "name": {**_TEXT, "description": "Of a guest, who has no account."},
            "email": {**_TEXT, "description": "Of an account."},
            "userId": {"type": "integer", "description": "Of an account."},
            "role": {"enum": TripRole.values, "description": "Of an account; VIEWER by default."},
        },
        needed=("trip",),
    ),
    "import_file": Tool(
        "Plans the import of a file of this or another service and records nothing; called with "
        "the importId of the plan, records it.",
        {
            "plan": Call("POST", "/api/imports"),
            "confirm": Call("POST", "/api/imports/{import_id}/confirm"),
        },
        also=("trip",),
        run=_import,
        own={
            "content": {**_TEXT, "description": "The text of the file."},
            "title": {**_TEXT, "description": "Of a new trip."},
            "currency": {**_TEXT, "description": "If the file does not say it."},
            "importId": {"type": "integer", "description": "The id of a plan to record."},
        },
    ),
    "export_trip": Tool(
        "A trip as a file: a table, or all that was entered as JSON.",
        {"": Call("GET", "/api/trips/{trip}/export")},
        run=_export,
        own={"format": {"enum": ["csv", "json"], "description": "csv by default."}},
        needed=("trip",),
    ),
    "list_expenses": Tool(
        "The expenses of a trip, filtered and page by page.",
        {"": Call("GET", _EXPENSES)},
        "listExpenses",
    ),
    "get_expense": Tool("One expense with payers and splits.", {"": Call("GET", _EXPENSE)}),
    "preview_expense": Tool(
        "What an expense would become: each person's part, and who would owe whom. Records "
        "nothing. Takes what add_expense takes.",
        {"": Call("POST", f"{_EXPENSES}/preview")},
        "previewExpense",
    ),
    "add_expense": Tool(
        "Records an expense. An equal call within a day changes nothing; for a second expense "
        f"that is equal, send another {KEY}.",
        {"": Call("POST", _EXPENSES)},
        "createExpense",
    ),
    "change_expense": Tool(
        "Changes the given fields of an expense, which are those of add_expense.",
        {"": Call("PATCH", _EXPENSE)},
        "updateExpense",
        is_destructive=True,
    ),
    "delete_expense": Tool(
        "Deletes an expense; for some weeks, restore_expense brings it back.",
        {"": Call("DELETE", _EXPENSE)},
        is_destructive=True,
    ),
    "restore_expense": Tool(
        "Puts a deleted expense back as it was.", {"": Call("POST", f"{_EXPENSE}/restore")}
    ),
    "settle_up_plan": Tool(
        "The fewest payments that settle a trip, with the tag that settle_up takes.",
        {"": Call("GET", "/api/trips/{trip}/settle-up")},
        run=_plan,
        needed=("trip",),
    ),
    "settle_up": Tool(
        "Records all payments of the plan with this tag, as if they were made.",
        {"": Call("POST", "/api/trips/{trip}/settle-up")},
        "recordSettleUpPlan",
    ),
    "list_settlements": Tool(
        "Payments between members.",
        {"": Call("GET", "/api/trips/{trip}/settlements")},
        "listSettlements",
    ),
    "delete_settlement": Tool(
        "Deletes a payment; what it covered is open again.",
        {"": Call("DELETE", "/api/trips/{trip}/settlements/{settlement}")},
        is_destructive=True,
    ),
    "record_settlement": Tool(
        "Records money that one member handed to another. An equal call within a day changes "
        f"nothing; for a second payment that is equal, send another {KEY}.",
        {"": Call("POST", "/api/trips/{trip}/settlements")},
        "createSettlement",
    ),
    "pay_split": Tool(
        "Marks somebody's part of an expense as paid.",
        {"": Call("PUT", "/api/expenses/{expense}/splits/{split}/pay")},
        also=("trip",),
    ),
    "unpay_split": Tool(
        "Takes back that somebody's part of an expense was paid.",
        {"": Call("PUT", "/api/expenses/{expense}/splits/{split}/unpay")},
        also=("trip",),
    ),
    "my_debts": Tool(
        "What the caller still owes: each open split, and the sum in the caller's currency.",
        {
            "pendingDebts": Call("GET", "/api/users/{me}/pending-debts"),
            "totalDebt": Call("GET", "/api/users/{me}/total-debt"),
        },
    ),
    "search": Tool(
        "Finds expenses by words, in one trip or in the newest ones.",
        {"": Call("GET", _EXPENSES)},
        also=("trip",),
        run=_search,
        own={"search": {**_TEXT, "minLength": 1, "description": "Words that the expense has."}},
        needed=("search",),
    ),
}
TOOLS: Mapping[str, Tool] = by_name(chain(_OWN.items(), _ADDED.items()))


def arguments_of(tool: Tool) -> Mapping[str, Any]:
    """The JSON schema of the arguments of a tool of a plugin, from the view that answers it."""
    [call] = tool.calls.values()
    properties: dict[str, Any] = {
        name: {
            "type": ["integer", "string"],
            "description": REFERENCES.get(name, f"The id of the {name}."),
        }
        for name in tool.references
    }
    fields, needed = properties_of(call.view, call.method)
    properties |= fields
    if tool.takes_key:
        properties[KEY] = {"type": "string", "description": "Equal keys record once a day."}
    return {
        "type": "object",
        "properties": properties,
        "required": [*tool.references, *needed],
        "additionalProperties": False,
    }
