"""Lists of expenses and settlements: filters, order and pages."""

import pytest

from tests.document import OPERATIONS


def test_the_newest_date_comes_first_and_of_one_day_the_latest_entry(ledger, vera, listed):
    assert ledger.names(vera) == listed == ledger.names(vera, "?ordering=-expenseDate")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("dateFrom=2026-05-15", ["Fado", "Tarts", "Tram"]),
        ("dateTo=2026-05-14", ["Hotel"]),
        ("dateFrom=2026-05-15&dateTo=2026-05-15", ["Tarts", "Tram"]),
        ("dateFrom=2026-05-16&dateTo=2026-05-14", []),
        ("category=FOOD", ["Tarts"]),
        ("category=OTHER", []),
        ("from=2026-05-15&to=2026-05-15", ["Tarts", "Tram"]),
        ("_unknown=7", ["Fado", "Tarts", "Tram", "Hotel"]),
    ],
)
@pytest.mark.usefixtures("listed")
def test_filters_narrow_the_list(ledger, vera, query, found):
    assert ledger.names(vera, f"?{query}") == found


@pytest.mark.usefixtures("listed")
def test_expenses_of_a_payer(ledger, olga, ed, vera):
    assert ledger.names(vera, f"?paidBy={ed.pk}") == ["Fado", "Tarts"]
    assert ledger.names(vera, f"?paidBy={vera.pk}") == []
    assert ledger.names(vera, f"?paidBy={olga.pk}&participant={vera.pk}") == ["Hotel"]


@pytest.mark.usefixtures("listed")
def test_payer_is_another_name_of_paid_by(ledger, ed, vera):
    assert ledger.names(vera, f"?payer={ed.pk}") == ["Fado", "Tarts"]


@pytest.mark.usefixtures("listed")
def test_expenses_of_a_participant(ledger, olga, vera):
    assert ledger.names(vera, f"?participant={vera.pk}") == ["Fado", "Hotel"]
    assert ledger.names(vera, f"?participant={olga.pk}") == ["Tarts", "Tram", "Hotel"]


@pytest.mark.parametrize(
    ("ordering", "order"),
    [
        ("expenseDate", ["Hotel", "Tram", "Tarts", "Fado"]),
        ("amount", ["Tram", "Tarts", "Fado", "Hotel"]),
        ("-amount", ["Hotel", "Fado", "Tarts", "Tram"]),
        ("createdAt", ["Tram", "Hotel", "Fado", "Tarts"]),
        ("-createdAt", ["Tarts", "Fado", "Hotel", "Tram"]),
    ],
)
@pytest.mark.usefixtures("listed")
def test_a_list_is_ordered_as_asked(ledger, vera, ordering, order):
    assert ledger.names(vera, f"?ordering={ordering}") == order


(LIST,) = (op for op in OPERATIONS if op.spec["operationId"] == "listExpenses")


@pytest.mark.parametrize("parameter", LIST.parameters("query"), ids=lambda p: p["name"])
def test_an_empty_parameter_counts_as_absent_where_the_document_allows_it(
    ledger, vera, listed, parameter
):
    query = f"?{parameter['name']}="
    if parameter.get("allowEmptyValue"):
        assert ledger.names(vera, query) == listed
    else:
        assert parameter["name"] in {"page", "pageSize", "deleted", "clientId", "format"}
        status = 406 if parameter["name"] == "format" else 400
        assert ledger.answer(vera, "get", f"expenses{query}").status_code == status


def test_settlements_are_listed_by_day_the_latest_first(ledger, olga, ed, vera):
    for day in ("2026-05-20", "2026-05-22", "2026-05-20"):
        body = {"fromUserId": ed.pk, "toUserId": olga.pk, "amount": 1, "settledOn": day}
        assert ledger.answer(ed, "post", "settlements", body).status_code == 201
    page = ledger.answer(vera, "get", "settlements?pageSize=2").json()
    assert (page["total"], page["totalPages"]) == (3, 2)
    first, second = page["items"]
    [third] = ledger.answer(vera, "get", "settlements?pageSize=2&page=2").json()["items"]
    days = [row["settledOn"] for row in (first, second, third)]
    assert days == ["2026-05-22", "2026-05-20", "2026-05-20"]
    assert second["id"] > third["id"]
