"""The objects of this API: users, groups, friends, expenses, comments.

Every key is there that a client fails without. Amounts are texts with at least one decimal, an
expense is at noon of its day, and null is only where clients expect it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from plugins.comments.models import Comment
from plugins.splitwise.categories import GENERAL, NAMES, TREE, their_category
from splits.models import Expense, Settlement
from splits.money import own_parts_and_debts
from tripcompanion.currency.amounts import to_major
from trips.models import Trip
from users.models import User

#: The id of a settlement, among those of expenses, is its own plus this. JavaScript can hold it.
PAYMENTS_FROM = 2**52
PAYMENT = "Payment"


def row_id(entry_id: int) -> tuple[bool, int]:
    """Whether an id is that of a settlement, and the id of the row."""
    is_payment = entry_id >= PAYMENTS_FROM
    return is_payment, entry_id - PAYMENTS_FROM if is_payment else entry_id


def amount(amount_minor: int, currency: str) -> str:
    whole, _point, decimals = format(to_major(amount_minor, currency), "f").partition(".")
    return f"{whole}.{decimals.rstrip('0') or '0'}"


def instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def noon(day: date) -> str:
    """A day as an instant that no time zone of a client moves to another day."""
    return f"{day}T12:00:00Z"


def balances(by_currency: Mapping[str, int]) -> list[dict[str, str]]:
    return [
        {"currency_code": currency, "amount": amount(minor, currency)}
        for currency, minor in sorted(by_currency.items())
        if minor
    ]


def user(person: User, *, is_invited: bool = False) -> dict[str, Any]:
    """A user; `is_invited` is whether an invitation for this guest is open."""
    first_name, _space, last_name = person.shown_name.partition(" ")
    picture = person.profile_picture
    # Some clients tell people apart by their addresses: none may be missing.
    if person.is_guest:
        email = f"guest-{person.pk}@guests.invalid"
    else:
        email = person.shown_email or f"user-{person.pk}@hidden.invalid"
    return {
        "id": person.pk,
        "first_name": first_name,
        "last_name": last_name or None,
        "email": email,
        "registration_status": _status(person, is_invited),
        "picture": dict.fromkeys(("small", "medium", "large"), picture),
        "custom_picture": picture is not None,
    }


def _status(person: User, is_invited: bool) -> str:
    if not person.is_guest:
        return "confirmed"
    return "invited" if is_invited else "dummy"


def member(
    person: User, by_currency: Mapping[str, int], *, is_invited: bool = False
) -> dict[str, Any]:
    """A user with a balance, or more, in minor units."""
    return {**user(person, is_invited=is_invited), "balance": balances(by_currency)}


def current_user(person: User, language: str) -> dict[str, Any]:
    date_format = "YYYY-MM-DD"
    return {
        **user(person),
        "force_refresh_at": None,
        "locale": language,
        "country_code": None,
        "date_format": date_format,
        "default_currency": person.currency,
        "default_group_id": -1,
        "notifications_read": None,
        "notifications_count": 0,
        "notifications": {},
    }


def debts(pairs: Mapping[tuple[int, int], int], currency: str) -> list[dict[str, Any]]:
    """Who owes whom, `{(debtor, creditor): amount}`."""
    return [
        {
            "from": debtor,
            "to": creditor,
            "amount": amount(minor, currency),
            "currency_code": currency,
        }
        for (debtor, creditor), minor in sorted(pairs.items())
        if minor
    ]


def categories() -> list[dict[str, Any]]:
    return [
        {**_category(pk, name), "subcategories": [_category(*child) for child in children.items()]}
        for (pk, name), children in TREE.items()
    ]


def _category(pk: int, name: str) -> dict[str, Any]:
    return {"id": pk, "name": name, "icon": None, "icon_types": {}}


def comment(row: Comment, deleted_at: datetime | None = None) -> dict[str, Any]:
    return {
        "id": row.pk,
        "content": row.text,
        "comment_type": "User",
        "relation_type": "ExpenseComment",
        "relation_id": row.expense_id,
        "created_at": instant(row.created_at),
        "deleted_at": deleted_at and instant(deleted_at),
        "user": user(row.created_by),
    }


@dataclass
class Entry:
    """An expense or a settlement; to these clients, both are expenses."""

    id: int
    trip: Trip
    description: str
    details: str
    amount_minor: int
    day: date
    #: What each person paid, and bears, in minor units.
    paid: Mapping[int, int]
    owed: Mapping[int, int]
    repayments: Mapping[tuple[int, int], int]
    created_at: datetime
    created_by: int
    updated_at: datetime
    method: str
    category: str | None = None
    given_category: int | None = None
    comments: int = 0
    #: The path of the newest attachment; shown as an address.
    receipt: str | None = None
    updated_by: int | None = None
    deleted_at: datetime | None = None
    deleted_by: int | None = None

    @classmethod
    def of_expense(cls, row: Expense) -> "Entry":
        """The entry of an expense with all columns of its `loaded_payers` and `loaded_splits`."""
        paid = {payer.user_id: payer.amount_minor for payer in row.loaded_payers}
        shares = {split.participant_id: split.amount_minor for split in row.loaded_splits}
        owed, repayments = own_parts_and_debts(shares, paid, row.number, row.places)
        return cls(
            id=row.pk,
            trip=row.trip,
            description=row.description,
            details=row.notes,
            amount_minor=row.amount_minor,
            day=row.expense_date,
            paid=paid,
            owed=owed,
            repayments=repayments,
            created_at=row.created_at,
            created_by=row.created_by_id,
            updated_at=row.updated_at,
            method="equal" if row.split_type == "EQUAL" else "split",
            category=row.category,
        )

    @classmethod
    def of_settlement(cls, row: Settlement) -> "Entry":
        description, _line, details = row.note.partition("\n")
        return cls(
            id=PAYMENTS_FROM + row.pk,
            trip=row.trip,
            description=description or PAYMENT,
            details=details,
            amount_minor=row.amount_minor,
            day=row.settled_on,
            paid={row.sender_id: row.amount_minor},
            owed={row.receiver_id: row.amount_minor},
            repayments={(row.receiver_id, row.sender_id): row.amount_minor},
            created_at=row.created_at,
            created_by=row.created_by_id,
            updated_at=row.created_at,
            method="payment",
        )

    @property
    def is_payment(self) -> bool:
        return self.id >= PAYMENTS_FROM

    @property
    def people(self) -> set[int]:
        """The ids of everybody whom the object shows."""
        others = (self.created_by, self.updated_by, self.deleted_by)
        return {*self.paid, *self.owed, *filter(None, others)}

    def shown(self, people: Mapping[int, User], friendships: Iterable[int]) -> dict[str, Any]:
        """The object; `people` are its users, `friendships` the trips that are no groups."""
        currency = self.trip.currency
        pk = (
            GENERAL if self.category is None else their_category(self.category, self.given_category)
        )
        return {
            "id": self.id,
            "group_id": None if self.trip.pk in friendships else self.trip.pk,
            "expense_bundle_id": None,
            "description": self.description,
            "repeats": False,
            "repeat_interval": "never",
            "email_reminder": False,
            "email_reminder_in_advance": -1,
            "next_repeat": None,
            "details": self.details or None,
            "comments_count": self.comments,
            "payment": self.is_payment,
            "creation_method": self.method,
            "transaction_method": "offline",
            "transaction_confirmed": False,
            "transaction_id": None,
            "transaction_status": None,
            "cost": amount(self.amount_minor, currency),
            "currency_code": currency,
            "repayments": debts(self.repayments, currency),
            "date": noon(self.day),
            "created_at": instant(self.created_at),
            "created_by": user(people[self.created_by]),
            "updated_at": instant(self.updated_at),
            "updated_by": self.updated_by and user(people[self.updated_by]),
            "deleted_at": self.deleted_at and instant(self.deleted_at),
            "deleted_by": self.deleted_by and user(people[self.deleted_by]),
            "category": {"id": pk, "name": NAMES[pk]},
            "receipt": dict.fromkeys(("large", "original"), self.receipt),
            "users": [
                self._part(people[user_id], currency) for user_id in {**self.paid, **self.owed}
            ],
        }

    def _part(self, person: User, currency: str) -> dict[str, Any]:
        paid, owed = self.paid.get(person.pk, 0), self.owed.get(person.pk, 0)
        return {
            "user": user(person),
            "user_id": person.pk,
            "paid_share": amount(paid, currency),
            "owed_share": amount(owed, currency),
            "net_balance": amount(paid - owed, currency),
        }
