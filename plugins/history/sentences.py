"""Sentences that tell people what a row of the journal says."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from splits.models import Expense
from tripcompanion.plugin import plugins
from trips.models import JournalEntry, Trip
from trips.models.events import Event
from trips.models.journal import plain_fields
from trips.roles import TripRole

_SENTENCES: Mapping[str, Any] = {
    Event.TRIP_CREATED: gettext_lazy("%(by)s created the trip."),
    Event.TRIP_CHANGED: gettext_lazy("%(by)s changed %(changes)s."),
    Event.TRIP_DELETED: gettext_lazy("%(by)s deleted the trip."),
    Event.TRIP_RESTORED: gettext_lazy("%(by)s restored the trip."),
    Event.CODE_RENEWED: gettext_lazy("%(by)s renewed the trip code."),
    Event.MEMBER_ADDED: gettext_lazy("%(by)s added %(who)s as %(role)s."),
    Event.MEMBER_JOINED: gettext_lazy("%(who)s joined as %(role)s."),
    Event.ROLE_CHANGED: gettext_lazy(
        "%(by)s changed the role of %(who)s from %(old_role)s to %(role)s."
    ),
    Event.MEMBER_LEFT: gettext_lazy("%(who)s left the trip."),
    Event.MEMBER_REMOVED: gettext_lazy("%(by)s removed %(who)s."),
    Event.GUEST_ADDED: gettext_lazy("%(by)s added the guest %(who)s."),
    Event.GUEST_RENAMED: gettext_lazy("%(by)s renamed the guest %(old_name)s to %(who)s."),
    Event.GUEST_CLAIMED: gettext_lazy("%(who)s took the place of a guest."),
    Event.GUEST_MERGED: gettext_lazy("%(by)s merged a guest with %(who)s."),
    Event.EXPENSE_CREATED: gettext_lazy("%(by)s recorded %(what)s: %(amount)s."),
    Event.EXPENSE_CHANGED: gettext_lazy("%(by)s changed %(changes)s in %(what)s."),
    Event.EXPENSE_DELETED: gettext_lazy("%(by)s deleted %(what)s."),
    Event.EXPENSE_RESTORED: gettext_lazy("%(by)s restored %(what)s."),
    Event.SPLIT_ADDED: gettext_lazy("%(by)s added %(who)s to %(what)s."),
    Event.SPLIT_DELETED: gettext_lazy("%(by)s removed %(who)s from %(what)s."),
    Event.SPLIT_PAID: gettext_lazy("%(by)s marked the part of %(who)s in %(what)s as paid."),
    Event.SPLIT_UNPAID: gettext_lazy("%(by)s marked the part of %(who)s in %(what)s as unpaid."),
    Event.SETTLEMENT_CREATED: gettext_lazy(
        "%(by)s recorded that %(sender)s gave %(receiver)s %(amount)s."
    ),
    Event.SETTLEMENT_DELETED: gettext_lazy(
        "%(by)s deleted the settlement of %(amount)s from %(sender)s to %(receiver)s."
    ),
    Event.SETTLEMENT_RESTORED: gettext_lazy(
        "%(by)s restored the settlement of %(amount)s from %(sender)s to %(receiver)s."
    ),
}
#: Those of plugins, too.
_ALL = {**_SENTENCES, **{name: text for app in plugins() for name, text in app.events.items()}}
#: For an event of a newer release.
_OTHER = gettext_lazy("%(by)s changed something in the trip.")
#: For members who did it to themselves.
_OWN: Mapping[str, Any] = {
    Event.SPLIT_PAID: gettext_lazy("%(by)s paid their part of %(what)s."),
    Event.SETTLEMENT_CREATED: gettext_lazy("%(by)s gave %(receiver)s %(amount)s."),
}
#: On the page of an expense, the expense is not named.
_ALONE = gettext_lazy("%(by)s changed %(changes)s.")

_PLAIN = {**plain_fields(Trip), **plain_fields(Expense)}
#: The fields in the order in which a sentence names them. Those of a sum follow from the others; a
#: plain field without a phrase here is called as its column is.
_PHRASES = {
    "title": gettext_lazy("the title"),
    "description": gettext_lazy("the description"),
    "amount": gettext_lazy("the amount"),
    "budget": gettext_lazy("the budget"),
    "currency": gettext_lazy("the currency"),
    "exchangeRate": gettext_lazy("the exchange rate"),
    "destination": gettext_lazy("the destination"),
    "startDate": gettext_lazy("the start date"),
    "endDate": gettext_lazy("the end date"),
    "expenseDate": gettext_lazy("the date"),
    "category": gettext_lazy("the category"),
    "splitType": gettext_lazy("how it is split"),
    "items": gettext_lazy("the items"),
    "tax": gettext_lazy("the tax"),
    "tip": gettext_lazy("the tip"),
    "discount": gettext_lazy("the discount"),
    "payers": gettext_lazy("who paid"),
    "splits": gettext_lazy("the splits"),
    "defaultDivision": gettext_lazy("how expenses are split by default"),
    "categoryBudgets": gettext_lazy("the budgets of categories"),
    "joinRole": gettext_lazy("the role of those who join"),
    "imageUrl": gettext_lazy("the picture"),
    "receiptUrl": gettext_lazy("the receipt"),
    "notes": gettext_lazy("the notes"),
    "tags": gettext_lazy("the tags"),
}
#: The fields that plugins change, which are not single values.
_ADDED = {name: text for app in plugins() for name, text in app.phrases.items()}
_FIELDS = {
    **_PHRASES,
    **_ADDED,
    **{name: field.verbose_name for name, field in _PLAIN.items() if name not in _PHRASES},
}
_MAX_QUOTED_CHARS = 100
#: Too long to be quoted, or not a single value.
_NOT_QUOTED = {
    *_ADDED,
    *("categoryBudgets", "defaultDivision", "items", "payers", "splits", "tags"),
    *(name for name, field in _PLAIN.items() if (field.max_length or 0) > _MAX_QUOTED_CHARS),
}
_LABELS: Mapping[str, Any] = {
    name: dict(field.flatchoices) for name, field in _PLAIN.items() if field.choices
}


class Names(NamedTuple):
    """The names of the ids in a row. If an id is missing, the person no longer exists."""

    people: Mapping[int, str]
    #: The description of the expense.
    expense: str | None


def people_in(row: JournalEntry) -> set[int]:
    """The ids of the people whom the sentence of a row may name."""
    ids = {row.object_id} if row.object_type == "member" else set()
    ids |= {row.by_id} if row.by_id else set()
    changes = row.changes
    ids |= {_latest(changes[name]) for name in ("fromUserId", "toUserId") if name in changes}
    return ids if row.person_id is None else ids | {row.person_id}


def sentence(row: JournalEntry, names: Names, currency: str, *, alone: bool = False) -> str:
    """One sentence in the active language. `currency` is the trip's; `alone`: see `_ALONE`."""
    changes = row.changes
    latest = {name: _latest(pair) for name, pair in changes.items()}
    shown_currency = latest.get("currency") or currency
    values = {
        "by": names.people[row.by_id] if row.by_id else row.author_name or _("The service"),
        "who": _who(row, names, latest),
        "what": _what(row, names, latest),
        "role": _role(latest.get("role")),
        "old_role": _role(changes.get("role", {}).get("old")),
        "old_name": changes.get("name", {}).get("old") or _("somebody"),
        "changes": _changed(changes),
        "sender": names.people.get(latest.get("fromUserId", 0), _("somebody")),
        "receiver": names.people.get(latest.get("toUserId", 0), _("somebody")),
        "amount": f"{_quoted('amount', latest.get('amount'))} {shown_currency}",
    }
    return _template(row, latest, alone=alone) % values


def _template(row: JournalEntry, latest: Mapping[str, Any], *, alone: bool) -> Any:
    event = row.event
    if alone and event == Event.EXPENSE_CHANGED:
        return _ALONE
    person = latest.get("fromUserId") or row.person_id
    is_own = row.by_id is not None and row.by_id == person
    return (is_own and _OWN.get(event)) or _ALL.get(event, _OTHER)


def _latest(pair: Mapping[str, Any]) -> Any:
    return pair["old"] if pair["new"] is None else pair["new"]


def _who(row: JournalEntry, names: Names, latest: Mapping[str, Any]) -> str:
    user_id = row.person_id or row.object_id
    return latest.get("name") or names.people.get(user_id) or _("somebody")


def _what(row: JournalEntry, names: Names, latest: Mapping[str, Any]) -> str:
    own = latest.get("description" if row.object_type == "expense" else "title")
    known = names.expense or own
    if known:
        return _("“%(title)s”") % {"title": known}
    return _("an expense") if row.expense_id else _("something")


def _role(role: str | None) -> str:
    return str(dict(TripRole.choices).get(role, role)) if role else ""


def _changed(changes: Mapping[str, Mapping[str, Any]]) -> str:
    """`the amount from 40.00 to 45.00 and the notes`."""
    following = _following(changes)
    phrases = [
        _phrase(name, str(label), changes[name])
        for name, label in _FIELDS.items()
        if name in changes and name not in following
    ]
    if len(phrases) < 2:  # noqa: PLR2004 -- nothing to join
        return "".join(phrases) or _("the details")
    return _("%(first)s and %(last)s") % {"first": ", ".join(phrases[:-1]), "last": phrases[-1]}


def _following(changes: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The fields that changed only because the amount or the division changed."""
    if changes.keys().isdisjoint({"amount", "currency", "exchangeRate", "splitType"}):
        return set()
    ids = {"payers": "userId", "splits": "participantUserId"}
    return {
        name
        for name, key in ids.items()
        if name in changes and _ids(changes[name]["old"], key) == _ids(changes[name]["new"], key)
    }


def _ids(rows: Iterable[Mapping[str, Any]] | None, key: str) -> list[int]:
    return [row[key] for row in rows or ()]


def _phrase(name: str, label: str, pair: Mapping[str, Any]) -> str:
    old, new = (_quoted(name, pair[side]) for side in ("old", "new"))
    if name in _NOT_QUOTED or not new:
        return label
    if not old:
        return _("%(field)s to %(new)s") % {"field": label, "new": new}
    return _("%(field)s from %(old)s to %(new)s") % {"field": label, "old": old, "new": new}


def _quoted(name: str, value: Any) -> str:
    """A value as people read it, in the active language; "" for None."""
    if value is None:
        return ""
    if name in _LABELS:
        return str(_LABELS[name].get(value, value))
    if name.endswith("Date"):
        return date_format(date.fromisoformat(value), "DATE_FORMAT")
    if isinstance(value, Decimal | int):
        exponent = Decimal(value).as_tuple().exponent
        decimals = -exponent if isinstance(exponent, int) else 0
        return number_format(value, max(decimals, 0), use_l10n=True, force_grouping=True)
    return str(value)
