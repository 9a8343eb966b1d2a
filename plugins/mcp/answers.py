"""What tools answer: what the API answers, with each person once and without what is empty."""

from collections.abc import Mapping
from typing import Any

#: What no assistant needs, in any object.
_LEFT_OUT = frozenset(
    {"createdAt", "updatedAt", "joinedAt", "profilePicture", "imageUrl", "thumbnailUrl"}
)
_PERSON = frozenset({"id", "name", "profilePicture", "guest"})


def compact(answer: Any) -> dict[str, Any]:
    """An answer as an object, in which people are ids; `people` has their names, once."""
    people: dict[int, dict[str, Any]] = {}
    found = _compact(answer, people)
    whole = found if isinstance(found, dict) else {"result": found}
    return {**whole, "people": list(people.values())} if people else whole


def _compact(value: Any, people: dict[int, dict[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_compact(item, people) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "participant" in value and "paid" in value:
        split = {"expenseId": value["expenseId"], "userId": _noted(value["participant"], people)}
        split |= {"amount": value["amount"], "paid": value["paid"]}
        is_part_paid = value["paidAmount"] and not value["paid"]
        return {**split, "paidAmount": value["paidAmount"]} if is_part_paid else split
    left_out = _left_out(value)
    shown: dict[str, Any] = {}
    for name, item in value.items():
        if name in left_out or item is None or item == "" or (name == "tags" and not item):
            continue
        if isinstance(item, Mapping) and item.keys() >= _PERSON:
            name = "userId" if name in {"user", "participant"} else f"{name}UserId"
            shown[name] = _noted(item, people)
        else:
            shown[name] = _compact(item, people)
    if "expenseDate" in value and isinstance(value.get("splits"), list):
        for split in shown["splits"]:
            split.pop("expenseId", None)
    return shown


def _left_out(value: Mapping[str, Any]) -> frozenset[str]:
    """The fields of an object that say nothing new."""
    if "settledOn" in value:
        return _LEFT_OUT | {"tripId"}
    if "expenseDate" not in value:
        return _LEFT_OUT
    left_out = _LEFT_OUT | {"tripId", "participantUserIds"}
    # One payer has paid all, and exact amounts are those of the splits.
    left_out |= {"payers"} if len(value.get("payers") or ()) == 1 else set()
    return left_out | ({"splitAmounts"} if value.get("splitType") == "MANUAL" else set())


def _noted(person: Mapping[str, Any], people: dict[int, dict[str, Any]]) -> int:
    """The id of a person, who stands among `people` then."""
    noted = {"id": person["id"], "name": person["name"]}
    if person.get("email"):
        noted["email"] = person["email"]
    if person.get("guest"):
        noted["guest"] = True
    people.setdefault(person["id"], noted)
    return int(person["id"])
