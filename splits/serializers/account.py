"""The shape of a copy of everything that is held about somebody, and its way into JSON."""

from collections.abc import Iterator
from typing import Any

from rest_framework import serializers

from splits.models.export import held_about
from tripcompanion.kit.rendering import ExactJSONRenderer
from tripcompanion.kit.serializers import MoneyField, Shape, camel_case, example
from tripcompanion.kit.showing import show
from users.models import User
from users.serializers import USER_EXAMPLE, UserSerializer

#: How many rows are held in memory at a time.
CHUNK_ROWS = 1000
OLGA_EXAMPLE, ED_EXAMPLE = {"id": 1, "name": "Olga Owner"}, {"id": 2, "name": "Ed Editor"}
INSTANT_EXAMPLE = "2026-05-14T21:40:00Z"


class ExportedAccount(UserSerializer):
    """The account itself."""

    email_verified_at = serializers.DateTimeField(allow_null=True)
    last_browser_log_in = serializers.DateTimeField(source="last_login", allow_null=True)


class ExportedPerson(Shape):
    """Somebody else: what the books need to be read, and no more."""

    id = serializers.IntegerField()
    name = serializers.CharField()


class ExportedLogIn(Shape):
    """A log-in by the API."""

    device = serializers.CharField()
    address = serializers.CharField()
    created_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class ExportedToken(Shape):
    """A scoped token, without what it opens things with."""

    name = serializers.CharField()
    hint = serializers.CharField()
    scopes = serializers.CharField(source="scope_words")
    trip_id = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField()


class ExportedMembership(Shape):
    """A trip that one is or was in, and where one stands there."""

    trip_id = serializers.IntegerField()
    title = serializers.CharField(source="trip.title")
    destination = serializers.CharField(source="trip.destination")
    start_date = serializers.DateField(source="trip.start_date")
    end_date = serializers.DateField(source="trip.end_date")
    role = serializers.CharField()
    joined_at = serializers.DateTimeField()
    left_at = serializers.DateTimeField(allow_null=True)
    currency = serializers.CharField(source="trip.currency")
    paid = MoneyField(currency="trip.currency")
    share = MoneyField(currency="trip.currency")
    sent = MoneyField(currency="trip.currency")
    received = MoneyField(currency="trip.currency")
    balance = MoneyField(currency="trip.currency")


class ExportedExpense(Shape):
    """An expense that one recorded, whoever paid it."""

    id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    description = serializers.CharField()
    amount = MoneyField(source="entered")
    currency = serializers.CharField()
    expense_date = serializers.DateField()
    category = serializers.CharField()
    split_type = serializers.CharField()
    receipt_url = serializers.CharField(allow_null=True)
    notes = serializers.CharField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class ExportedPayment(Shape):
    """What one put into an expense, whoever recorded it."""

    expense_id = serializers.IntegerField()
    trip_id = serializers.IntegerField(source="expense.trip_id")
    description = serializers.CharField(source="expense.description")
    expense_date = serializers.DateField(source="expense.expense_date")
    amount = MoneyField(source="entered", currency="expense.currency")
    currency = serializers.CharField(source="expense.currency")


class ExportedSplit(Shape):
    """One's own part of an expense."""

    id = serializers.IntegerField()
    expense_id = serializers.IntegerField()
    trip_id = serializers.IntegerField(source="expense.trip_id")
    description = serializers.CharField(source="expense.description")
    expense_date = serializers.DateField(source="expense.expense_date")
    amount = MoneyField(currency="expense.trip.currency")
    currency = serializers.CharField(source="expense.trip.currency")
    created_at = serializers.DateTimeField()


class ExportedDebt(Shape):
    """What one owes for a split, or is owed; `open` is what nothing covers yet."""

    split_id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    from_ = ExportedPerson(source="debtor")
    to = ExportedPerson(source="creditor")
    amount = MoneyField(currency="trip.currency")
    open = MoneyField(source="left", currency="trip.currency")
    currency = serializers.CharField(source="trip.currency")


class ExportedSettlement(Shape):
    """Money that one handed over or was handed, or that one recorded for others."""

    id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    from_ = ExportedPerson(source="sender")
    to = ExportedPerson(source="receiver")
    amount = MoneyField(currency="trip.currency")
    currency = serializers.CharField(source="trip.currency")
    settled_on = serializers.DateField()
    note = serializers.CharField()
    recorded_by = ExportedPerson(source="created_by")
    created_at = serializers.DateTimeField()


@example(
    {
        "account": {
            **USER_EXAMPLE,
            "emailVerifiedAt": INSTANT_EXAMPLE,
            "lastBrowserLogIn": None,
        },
        "logIns": [
            {
                "device": "Firefox on Linux",
                "address": "192.0.2.1",
                "createdAt": INSTANT_EXAMPLE,
                "usedAt": INSTANT_EXAMPLE,
                "expiresAt": "2026-06-13T21:40:00Z",
                "endedAt": None,
            }
        ],
        "scripts": [],
        "memberships": [],
        "expenses": [],
        "payments": [
            {
                "expenseId": 12,
                "tripId": 7,
                "description": "Dinner in Alfama",
                "expenseDate": "2026-05-14",
                "amount": 62.5,
                "currency": "EUR",
            }
        ],
        "splits": [],
        "debts": [
            {
                "splitId": 31,
                "tripId": 7,
                "from": ED_EXAMPLE,
                "to": OLGA_EXAMPLE,
                "amount": 31.25,
                "open": 0,
                "currency": "EUR",
            }
        ],
        "settlements": [],
    }
)
class AccountExport(Shape):
    """Everything that is held about somebody. Others appear with id and name only."""

    account = ExportedAccount()
    log_ins = ExportedLogIn(many=True)
    scripts = ExportedToken(many=True)
    memberships = ExportedMembership(many=True)
    expenses = ExportedExpense(many=True)
    payments = ExportedPayment(many=True)
    splits = ExportedSplit(many=True)
    debts = ExportedDebt(many=True)
    settlements = ExportedSettlement(many=True)


def exported(user: User) -> Iterator[bytes]:
    """An `AccountExport` of `user` as JSON, in pieces: only so many rows are in memory at once."""
    fields: Any = AccountExport().fields
    rows = held_about(user)
    yield b'{"account":' + _json(show(ExportedAccount, user, {}))
    for name, queryset in rows.items():
        shape = type(fields[camel_case(name)].child)
        yield b',"%s":[' % camel_case(name).encode()
        comma = b""
        for row in queryset.iterator(CHUNK_ROWS):
            yield comma + _json(show(shape, row, {}))
            comma = b","
        yield b"]"
    yield b"}"


def _json(value: Any) -> bytes:
    return ExactJSONRenderer().render(value)
