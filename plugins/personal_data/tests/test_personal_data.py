"""One's own data as a file."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Model

from plugins.personal_data.export import exported, personal_data
from plugins.personal_data.ledger import (
    LISTS,
    ExportedExpense,
    ExportedPayment,
    ExportedSettlement,
    ExportedSplit,
)
from splits.models import Expense, Payer, Settlement, Split
from tests.factories import join, owned_trip, spend
from tests.test_memory import peak_bytes
from tests.walked import all_of
from tests.wide import copies
from tripcompanion.api.serializers import camel_case
from tripcompanion.plugin import plugins
from users.mail_templates import MailTemplate
from users.models import EmailToken, Session, User

pytestmark = pytest.mark.either


def export(client):
    response = client.get("/api/users/me/export")
    assert response.status_code == 200
    return json.loads(response.content)


def test_it_is_a_file_of_everything_about_the_caller(api, ledgers, olga, ed, vera):
    response = api(ed).get("/api/users/me/export")
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"] == 'attachment; filename="trip-companion.json"'
    held = json.loads(response.content)
    assert held["account"]["email"] == "ed@example.com"
    assert held["account"]["emailVerifiedAt"] is None
    assert len(held["logIns"]) == 1
    [membership] = held["memberships"]
    assert (membership["tripId"], membership["role"]) == (ledgers.pk, "EDITOR")
    sums = ("paid", "share", "sent", "received", "balance")
    assert [membership[name] for name in sums] == [9, 14.5, 4, 0, -1.5]
    assert [(row["description"], row["amount"]) for row in held["expenses"]] == [("Tarts", 9)]
    assert [(row["description"], row["amount"]) for row in held["payments"]] == [("Tarts", 9)]
    parts = [(row["description"], row["amount"]) for row in held["splits"]]
    assert parts == [("Boat", 10), ("Tarts", 4.5)]
    people = {user.pk: {"id": user.pk, "name": user.name} for user in (olga, ed, vera)}
    debts = [(row["from"], row["to"], row["amount"], row["open"]) for row in held["debts"]]
    assert debts == [
        (people[ed.pk], people[olga.pk], 10, 6),
        (people[vera.pk], people[ed.pk], 4.5, 4.5),
    ]
    [settlement] = held["settlements"]
    assert (settlement["to"], settlement["amount"]) == (people[olga.pk], 4)
    assert (settlement["note"], settlement["recordedBy"]) == ("In cash", people[ed.pk])


def test_an_expense_in_another_currency_has_its_rate_and_the_amount_of_the_trip(
    api, trip, olga, ed
):
    spend(trip, 3000, paid_by=ed, among=[olga], currency="USD", exchange_rate=Decimal("0.5"))
    held = export(api(ed))
    [expense], [payment] = held["expenses"], held["payments"]
    assert (expense["exchangeRate"], expense["exchangeRateSource"]) == (0.5, "ENTERED")
    for row in (expense, payment):
        assert (row["amount"], row["currency"]) == (30, "USD")
        assert (row["tripAmount"], row["tripCurrency"]) == (15, "EUR")
    assert expense.keys().isdisjoint({"paidBy", "payers", "splits"})


def test_others_appear_with_id_and_name_only_and_no_secret_is_in_it(api, ledgers, ed):
    EmailToken.make(ed, MailTemplate.RESET)
    text = api(ed).get("/api/users/me/export").content.decode()
    for other in ("olga@example.com", "vera@example.com"):
        assert other not in text
    ed.refresh_from_db()
    session = Session.objects.get(user=ed)
    secrets = [ed.password, session.refresh_jti, session.auth_hash, EmailToken.objects.get().digest]
    for secret in secrets:
        assert secret not in text


@pytest.mark.parametrize("rows", LISTS, ids=lambda rows: rows.name)
def test_of_trips_and_people_only_what_is_shown_is_read(rows, ed):
    """Each row of the ledger is joined with a trip, and most with people.

    A join with expenses would compare all of a trip that PostgreSQL does not know.
    """
    assert not re.search('"(destination|password)"| JOIN "splits_', str(rows.of(ed).query))


def test_what_is_of_others_is_not_in_it(api, ledgers, sam):
    held = export(api(sam))
    empty = {name: rows for name, rows in held.items() if name not in {"account", "logIns"}}
    assert empty == dict.fromkeys(empty, [])
    assert len(empty) == len([rows.name for app in plugins() for rows in app.personal_data()]) - 1


def test_a_former_member_still_gets_what_is_theirs(api, olga, ed):
    trip = owned_trip(olga)
    join(trip, ed)
    api(ed).post(f"/api/trips/{trip.pk}/members/leave")
    [membership] = export(api(ed))["memberships"]
    assert membership["leftAt"] is not None


def test_it_is_limited_per_user(api, limits, olga, ed):
    limits(export="2/hour")
    client = api(olga)
    assert [client.get("/api/users/me/export").status_code for _time in range(3)] == [200, 200, 429]
    assert api(ed).get("/api/users/me/export").status_code == 200
    assert client.get("/api/users/me").status_code == 200


def test_every_table_that_names_people_is_in_it_or_known_to_need_no_place(ed):
    """A model that comes to hold something about people must be thought of here."""
    shown = {rows.of(ed).model._meta.label for rows in personal_data()}
    naming = {
        relation.related_model._meta.label
        for relation in User._meta.get_fields(include_hidden=True)
        if relation.one_to_many
    }
    # Hashes, answers of a day, what is to be mailed, the log of the administrators' doings, and
    # second factors.
    assert naming - shown == {
        "users.EmailToken",
        "users.Mail",
        "kit.IdempotencyRecord",
        "admin.LogEntry",
        "otp_static.StaticDevice",
        *all_of("NOT_EXPORTED"),
    }


SHOWN: Mapping[type[Model], tuple[type[Any], set[str], set[str]]] = {
    Expense: (ExportedExpense, set(), {"number", "divided", "merged_guests", "created_by"}),
    Payer: (ExportedPayment, set(), {"id", "trip", "user"}),
    Split: (ExportedSplit, set(), {"trip", "participant", "entered_minor", "weight_e4"}),
    Settlement: (
        ExportedSettlement,
        # What `entered_minor` and `currency` read.
        {"foreign_minor", "foreign_currency"},
        {"credit_minor", "split", "closing"},
    ),
}


@pytest.mark.parametrize("model", SHOWN)
def test_every_column_is_shown_or_left_out_on_purpose(model):
    serializer, more, left_out = SHOWN[model]
    shown = {str(field.source).split(".")[0] for field in serializer().fields.values()} | more
    columns = {field.name: {field.name, field.attname} for field in model._meta.concrete_fields}
    assert {name for name, names in columns.items() if not names & shown} == left_out


def test_it_has_what_every_app_keeps(api, olga):
    lists = {camel_case(rows.name) for app in plugins() for rows in app.personal_data()}
    assert lists <= export(api(olga)).keys()


def test_it_has_what_is_still_stored_of_a_deleted_trip(api, ledgers, olga, ed):
    assert api(olga).delete(f"/api/trips/{ledgers.pk}").status_code == 204
    held = export(api(ed))
    [membership] = held["memberships"]
    assert membership["tripId"] == ledgers.pk
    assert membership["leftAt"] is not None
    assert len(held["splits"]) == 2


def test_it_says_when_the_address_was_confirmed(api, olga):
    olga.verify_email()
    assert export(api(olga))["account"]["emailVerifiedAt"] is not None


def test_it_holds_few_rows_with_long_texts(trip, olga):
    expense = spend(trip, 100, paid_by=olga, among=[olga])
    items = {"items": [{"name": "x" * 200_000, "amount": 1, "shares": {str(olga.pk): 1}}]}
    trip.expenses.update(stored_items=json.dumps(items))
    copies(expense, 300, number="n")
    assert peak_bytes(lambda: exported(olga).close()) < 50_000_000
