"""What an action of a viewset is called, takes and answers: declared once, above its method."""

from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

#: What may be declared, and the table of `ApiViewSet` in which it is by the name of the action.
_TABLES = {
    "answers": "response_serializers",
    "deprecated": "deprecated",
    "files": "files",
    "needs": "needs",
    "operation_id": "operation_ids",
    "problems": "problems",
    "query": "query_serializers",
    "takes": "request_serializers",
    "throttles": "throttles",
}
#: What may be true, and the set in which the action is then.
_SETS = {
    "has_etag": "etag_actions",
    "many": "lists",
    "only_reads": "only_reads",
    "shows_secret": "shows_secret",
    "single_statement": "single_statement",
    "takes_file": "file_actions",
    "uncounted": "uncounted",
    "without_snapshot": "without_snapshot",
}
_STATUSES = {201: "creates", 202: "accepts"}


def operation(
    operation_id: str = "", *, status: int = 200, **declared: Any
) -> Callable[[Method], Method]:
    """Declare a method of a viewset as an action, which a route calls by the name of the method.

    `operation_id` is the name of a method in generated clients. `takes`, `query` and `answers` are
    serializers of the body, of the query and of the response; `answers=None` is a response without
    a body. `needs` is the capability in the trip, None for every user. `status` is 201 for what
    makes something, as `create` does, and 202 for what is done later. The tables of `ApiViewSet`
    explain the rest; raises `TypeError` for what has none. Subclasses inherit what is declared.
    """
    if unknown := declared.keys() - _TABLES.keys() - _SETS.keys():
        raise TypeError(f"An operation has no {', '.join(sorted(unknown))}.")
    if operation_id:
        declared["operation_id"] = operation_id
    sets = {_SETS[name] for name, value in declared.items() if name in _SETS and value}
    sets |= {_STATUSES[status]} if status in _STATUSES else set()
    tables = {_TABLES[name]: value for name, value in declared.items() if name in _TABLES}

    def declare(method: Method) -> Method:
        method.declared = tables, sets  # type: ignore[attr-defined]
        return method

    return declare


def collect(viewset: Any) -> None:
    """Add what the methods of a class declare to its tables and sets."""
    for action, method in list(vars(viewset).items()):
        tables, sets = getattr(method, "declared", ({}, ()))
        for name, value in tables.items():
            setattr(viewset, name, {**getattr(viewset, name, {}), action: value})
        for name in sets:
            setattr(viewset, name, frozenset({*getattr(viewset, name, ()), action}))
