"""Many expenses in one request."""

import pytest

from splits.models import Expense
from tests.document import problem_of
from tests.factories import spend

pytestmark = pytest.mark.either


def bulk(ledger, user, **rows):
    return ledger.answer(user, "post", "expenses/bulk", rows)


def test_many_expenses_are_created_changed_and_deleted_at_once(ledger, olga, ed):
    first, second = (ledger.spend(olga, 60, olga, ed) for _time in range(2))
    response = bulk(
        ledger,
        olga,
        create=[ledger.expense_body(10, ed), ledger.expense_body(20, olga, description="Tram")],
        change=[{"id": first["id"], "category": "FOOD", "tags": ["x"], "amount": 70}],
        delete=[second["id"]],
    )
    assert response.status_code == 200
    made = response.json()
    assert [row["amount"] for row in made["create"]] == [10, 20]
    assert [ledger.expense(row) for row in made["create"]] == made["create"]
    assert made["change"] == [ledger.expense(first)]
    [changed] = made["change"]
    assert (changed["category"], changed["tags"], changed["amount"]) == ("FOOD", ["x"], 70)
    assert made["delete"] == [second["id"]]
    assert Expense.objects.count() == 3


def test_one_wrong_row_refuses_all_and_errors_name_their_rows(ledger, olga):
    expense = ledger.spend(olga, 60, olga)
    body = ledger.expense_body(10, olga)
    response = bulk(
        ledger,
        olga,
        create=[body, body | {"amount": 0}, body | {"participantUserIds": [999]}],
        change=[{"id": expense["id"], "notes": "new"}, {"id": 999}, {"notes": "x"}],
        delete=[expense["id"], expense["id"]],
    )
    assert response.status_code == 400
    assert set(response.json()["errors"]) == {
        *("create.1.amount", "create.2.participantUserIds", "change.1.id", "change.2.id"),
        "delete.1",
    }
    assert response.json()["errors"]["change.2.id"] == ["This field is required."]
    assert ledger.expense(expense) == expense
    assert Expense.objects.count() == 1


@pytest.mark.parametrize(
    "rows",
    [
        {"create": {}},
        {"create": [1]},
        {"change": [[]]},
        {"delete": ["x"]},
        {"delete": None, "create": "all"},
        {"delete": [*range(1, 102)]},
    ],
)
def test_wrong_rows_are_refused(ledger, olga, rows):
    expense = ledger.spend(olga, 60, olga)
    assert bulk(ledger, olga, **rows).status_code == 400
    assert ledger.expense(expense) == expense


def test_a_request_has_at_most_100_rows_in_all(ledger, olga):
    ids = range(1, 61)
    response = bulk(ledger, olga, delete=[*ids], change=[{"id": pk} for pk in ids])
    assert (response.status_code, {*response.json()["errors"]}) == (400, {"change", "delete"})


def test_each_row_needs_its_own_right(ledger, olga, ed):
    by_olga, by_ed = ledger.spend(olga, 1, olga), ledger.spend(ed, 1, ed)
    refused = problem_of(bulk(ledger, ed, delete=[by_ed["id"], by_olga["id"]]), 403, "forbidden")
    assert refused["errors"] == {"delete.1": [refused["detail"]]}
    change = {"id": by_olga["id"], "notes": "new"}
    refused = problem_of(bulk(ledger, ed, change=[change], delete=[by_ed["id"]]), 403)
    assert refused["errors"].keys() == {"change.0"}
    assert Expense.objects.count() == 2
    assert bulk(ledger, ed, delete=[by_ed["id"]]).status_code == 200


def test_an_expense_of_another_trip_is_not_found(ledger, ledger_in, olga):
    elsewhere = ledger_in("EUR").spend(olga, 1, olga)
    assert set(bulk(ledger, olga, delete=[elsewhere["id"]]).json()["errors"]) == {"delete.0"}


def test_what_a_closing_used_is_not_deleted(ledger, pay_with_rest, olga):
    dinner, _split, closing = pay_with_rest
    before = ledger.expense(dinner)
    document = problem_of(bulk(ledger, olga, delete=[dinner["id"]]), 409, "closes_trip")
    assert document["settlementId"] == closing["id"]
    assert document["errors"] == {"delete.0": [document["detail"]]}
    assert ledger.expense(dinner) == before
    ledger.delete_settlement(closing, olga)
    assert bulk(ledger, olga, delete=[dinner["id"]]).status_code == 200


def test_a_row_of_many_changes_may_be_what_was_read(api, trip, olga):
    spend(trip, 1000, paid_by=olga, among=[olga])
    client, path = api(olga), f"/api/trips/{trip.pk}/expenses"
    [expense] = client.get(path).json()["items"]
    row = {"id": expense["id"], "notes": "Tasty", "createdAt": expense["createdAt"]}
    assert client.post(f"{path}/bulk", {"change": [row]}).status_code == 200
    row["createdAt"] = "2026-01-01T00:00:00Z"
    document = problem_of(client.post(f"{path}/bulk", {"change": [row]}), 400)
    assert document["errors"].keys() == {"change.0.createdAt"}
