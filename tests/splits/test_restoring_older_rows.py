"""Entries that another release deleted, whose tables had fewer columns or more, are restored."""

import orjson
import pytest
from django.db.models import Model

from splits.models import Debt, DeletedEntry, Expense, Payer, Settlement, Split
from splits.reports.audit import differences
from tests.factories import settle, spend
from tests.stored import rolled_back

#: The tables of the rows that are stored for an expense and for a settlement.
STORED: dict[str, dict[str, type[Model]]] = {
    "expenses": {
        "expense": Expense,
        "payers": Payer,
        "splits": Split,
        "debts": Debt,
        "settlements": Settlement,
    },
    "settlements": {"settlement": Settlement},
}
#: The columns without a default. Every release stored them, or `rows_of` knows their value.
REQUIRED: dict[type[Model], set[str]] = {
    Expense: {
        *("id", "trip_id", "number", "description", "expense_date", "split_type"),
        *("amount_minor", "entered_minor", "currency", "created_by_id"),
    },
    Payer: {"id", "trip_id", "expense_id", "user_id", "amount_minor", "entered_minor"},
    Split: {"id", "trip_id", "expense_id", "participant_id", "amount_minor"},
    Debt: {
        *("id", "trip_id", "split_id", "debtor_id", "creditor_id"),
        *("amount_minor", "open_minor"),
    },
    Settlement: {
        *("id", "trip_id", "sender_id", "receiver_id", "created_by_id"),
        *("amount_minor", "credit_minor"),
    },
}
COLUMNS = [
    pytest.param(kind, name, field, id=f"{kind}-{name}-{field.attname}")
    for kind, tables in STORED.items()
    for name, model in tables.items()
    for field in model._meta.concrete_fields
    if field.attname not in REQUIRED[model]
]


@pytest.fixture
def deleted(api, trip, olga, ed):
    """`deleted(kind)` deletes an entry of that kind, and returns its path."""

    def delete(kind):
        dinner = spend(trip, 1000, paid_by=olga, among=[olga, ed], notes="Tapas", category="FOOD")
        payment = settle(trip, ed, olga, 100, note="Cash")
        by_ed = dinner.splits.get(participant=ed)
        assert api(ed).put(f"/api/expenses/{dinner.pk}/splits/{by_ed.pk}/pay").status_code == 200
        pk = dinner.pk if kind == "expenses" else payment.pk
        path = f"/api/trips/{trip.pk}/{kind}/{pk}"
        assert api(olga).delete(path).status_code == 204
        return path

    return delete


def rows_in(entry):
    for name, model_rows in entry.stored.items():
        if any(name in tables for tables in STORED.values()):
            yield from ((name, row) for row in model_rows)


@pytest.mark.once
@pytest.mark.parametrize(("kind", "name", "field"), COLUMNS)
def test_a_column_that_older_rows_lack_has_a_default_that_python_knows(kind, name, field):
    assert field.has_default() or field.null


@pytest.mark.either
@pytest.mark.parametrize("kind", STORED)
def test_a_column_that_is_newer_than_the_deleted_row_gets_its_default(
    api, trip, olga, deleted, kind
):
    path, client = deleted(kind), api(olga)
    for name, field in (column.values[1:] for column in COLUMNS if column.values[0] == kind):
        with rolled_back():
            assert_restored_without(client, trip, path, name, field)


def assert_restored_without(client, trip, path, name, field):
    entry = DeletedEntry.objects.get()
    rows = [row for row_name, row in rows_in(entry) if row_name == name]
    assert rows
    for row in rows:
        del row[field.attname]
    entry.save_rows()
    listing = path.rpartition("/")[0]
    [listed] = client.get(f"{listing}?deleted=true").json()["items"]
    restored = client.post(f"{path}/restore")
    assert restored.status_code == 200, field
    assert restored.json().keys() == listed.keys(), field
    if not callable(field.default):
        [expected] = (
            field.model._default_manager.filter(pk__in=[row["id"] for row in rows])
            .values_list(field.attname, flat=True)
            .distinct()
        )
        assert expected == field.get_default(), field
    assert list(differences(trip.pk)) == [], field


@pytest.mark.parametrize("kind", STORED)
def test_a_column_that_only_a_newer_release_had_is_ignored(api, trip, olga, deleted, kind):
    path, client = deleted(kind), api(olga)
    entry = DeletedEntry.objects.get()
    for _name, row in rows_in(entry):
        row["mood"] = "merry"
    entry.save_rows()
    assert b"merry" in orjson.dumps(entry.stored)
    shown = client.get(f"/api/trips/{trip.pk}/{kind}?deleted=true").json()["items"]
    assert [client.post(f"{path}/restore").json()] == shown
    assert list(differences(trip.pk)) == []
