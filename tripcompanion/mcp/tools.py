"""The tools, and what each asks of the API.

Most tools are one operation of the API, or a few whose answers belong together. Their arguments
are the parameters and the fields of the body, as `schemas.json` has them from the OpenAPI document;
trips, expenses and people can be named in place of ids.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.urls import resolve

from tripcompanion.mcp.inner import Api, ToolFailed
from tripcompanion.mcp.names import InTrip
from users.models.token import ScopedToken
from users.permissions import scopes_for

#: Arguments that are no field of the API.
REFERENCES: Mapping[str, str] = {
    "trip": "The trip: its id or its title.",
    "expense": "The expense: its id or its description.",
    "person": 'Whose part: a user id, a name, an e-mail address, or "me".',
}
KEY = "idempotencyKey"
#: How many of the newest trips a search without a trip looks through.
_SEARCHED_TRIPS = 10


@cache
def schemas() -> Mapping[str, Any]:
    """The JSON schema of the arguments of each tool; `make schema` writes it from openapi.yaml."""
    return json.loads(Path(__file__).with_name("schemas.json").read_text())


class Call(NamedTuple):
    """A request to the API; `{trip}`, `{expense}`, `{split}` and `{me}` in the path are ids."""

    method: str
    path: str

    def references(self) -> list[str]:
        """The arguments that the path needs."""
        named = [name for name in ("trip", "expense") if f"{{{name}}}" in self.path]
        return [*named, "person"] if "{split}" in self.path else named


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

    def is_open_to(self, token: Any) -> bool:
        """Whether a caller with this token, or with a session, may use it in principle."""
        if not isinstance(token, ScopedToken):
            return True
        for call in self.calls.values():
            path = call.path.format(trip=1, expense=1, split=1, me=1)
            view = resolve(path).func.cls  # type: ignore[attr-defined]
            needed = scopes_for(view, call.method)
            if not needed or not {*needed} <= {*token.limits.scopes}:
                return False
        return True

    def definition(self, name: str) -> dict[str, Any]:
        """As `tools/list` shows it."""
        return {
            "name": name,
            "title": name.replace("_", " ").capitalize(),
            "description": self.description,
            "inputSchema": schemas()[name],
            "annotations": {
                "readOnlyHint": self.only_reads,
                "destructiveHint": self.is_destructive,
                # What is created takes an idempotency key; other changes set a state.
                "idempotentHint": True,
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
        if self.run is not None:
            return self.run(self, api, dict(arguments))
        return self.call(api, name, dict(arguments))

    def call(self, api: Api, name: str, arguments: dict[str, Any]) -> Any:
        """The answers to its calls."""
        key = arguments.pop(KEY, None) or self._default_key(name, arguments)
        if not isinstance(key, str):
            raise ToolFailed(f"{KEY} must be text.")
        ids = self._ids(api, arguments)
        answers = {
            label: api.send(
                call.method,
                call.path.format(**ids),
                query=arguments if call.method == "GET" else None,
                body=arguments if self.takes and call.method in {"POST", "PATCH"} else None,
                key=key if self.takes_key else "",
            )
            for label, call in self.calls.items()
        }
        return answers.get("", answers)

    def _default_key(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The same for equal calls, so that a repeated one creates nothing twice.

        A tool without a body restores something, and an equal call may do so after each deletion.
        """
        if not self.takes:
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
            ids["expense"] = scene.expense_id(arguments.pop("expense"))
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
        newest = api.get("/api/trips", pageSize=_SEARCHED_TRIPS)["items"]
        trips = [trip["id"] for trip in newest]
    [call] = tool.calls.values()
    found = []
    for trip in trips:
        query = {"search": arguments["search"]}
        page = api.send(call.method, call.path.format(trip=trip), query)
        if page["items"]:
            found.append({"tripId": trip, "total": page["total"], "expenses": page["items"]})
    return {"searchedTripIds": trips, "found": found}


_EXPENSES = "/api/trips/{trip}/expenses"
_EXPENSE = f"{_EXPENSES}/{{expense}}"

TOOLS: Mapping[str, Tool] = {
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
    "list_expenses": Tool(
        "The expenses of a trip, filtered and page by page.",
        {"": Call("GET", _EXPENSES)},
        "listExpenses",
    ),
    "get_expense": Tool("One expense with payers and splits.", {"": Call("GET", _EXPENSE)}),
    "preview_expense": Tool(
        "What an expense would become: each person's part, and who would owe whom. Records "
        "nothing.",
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
        "Changes the given fields of an expense.",
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
        "Puts a deleted expense back as it was. It takes the id of the expense.",
        {"": Call("POST", f"{_EXPENSE}/restore")},
    ),
    "settle_up_plan": Tool(
        "The fewest payments that settle a trip.",
        {"": Call("GET", "/api/trips/{trip}/settle-up")},
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
    "my_debts": Tool(
        "What the caller still owes: each open split, and the sum in the caller's currency.",
        {
            "pendingDebts": Call("GET", "/api/users/{me}/pending-debts"),
            "totalDebt": Call("GET", "/api/users/{me}/total-debt"),
        },
    ),
    "statistics": Tool(
        "What a trip has cost, with the state of its budget.",
        {"": Call("GET", "/api/trips/{trip}/statistics")},
        "getTripStatistics",
    ),
    "search": Tool(
        "Finds expenses by words, in one trip or in the newest ones.",
        {"": Call("GET", _EXPENSES)},
        also=("trip",),
        run=_search,
    ),
    "add_comment": Tool(
        "Comments on an expense. An equal call within a day changes nothing, unless it has "
        f"another {KEY}.",
        {"": Call("POST", "/api/expenses/{expense}/comments")},
        "createComment",
        also=("trip",),
    ),
}
