"""Lists of expenses and settlements: filters, order, search and pages."""

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings, strategies

from tests.document import OPERATIONS
from tests.splits.ledger import Ledger
from users.models import User


@pytest.fixture
def listed(ledger: Ledger, olga: User, ed: User, vera: User) -> list[str]:
    """Four expenses; their names are what the tests compare."""
    for name, amount, day, category, by, among in (
        ("Tram", 9, "2026-05-15", "TRANSPORT", olga, [olga, ed]),
        ("Hotel", 300, "2026-05-14", "ACCOMMODATION", olga, [olga, ed, vera]),
        ("Fado", 45.5, "2026-05-16", "ACTIVITIES", ed, [ed, vera]),
        ("Tarts", 9, "2026-05-15", "FOOD", ed, [olga]),
    ):
        ledger.spend(by, amount, *among, description=name, expenseDate=day, category=category)
    return ["Fado", "Tarts", "Tram", "Hotel"]


def names(ledger: Ledger, user: User, query: str = "") -> list[str]:
    response = ledger.answer(user, "get", f"expenses{query}")
    assert response.status_code == 200, response.content
    return [expense["description"] for expense in response.json()["items"]]


def test_the_newest_date_comes_first_and_of_one_day_the_latest_entry(
    ledger: Ledger, vera: User, listed: list[str]
) -> None:
    assert names(ledger, vera) == listed == names(ledger, vera, "?ordering=-expenseDate")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("dateFrom=2026-05-15", ["Fado", "Tarts", "Tram"]),
        ("dateTo=2026-05-14", ["Hotel"]),
        ("dateFrom=2026-05-15&dateTo=2026-05-15", ["Tarts", "Tram"]),
        ("dateFrom=2026-05-16&dateTo=2026-05-14", []),
        ("category=FOOD", ["Tarts"]),
        ("category=OTHER", []),
        ("search=ta", ["Tarts"]),
        ("search=TRAM", ["Tram"]),
        ("search=%25", []),
        ("search=_", []),
        ("search=%20", ["Fado", "Tarts", "Tram", "Hotel"]),
        ("category=FOOD&search=tram", []),
        ("from=2026-05-15&to=2026-05-15", ["Tarts", "Tram"]),
        ("minAmount=45.50", ["Fado", "Hotel"]),
        ("maxAmount=45.5", ["Fado", "Tarts", "Tram"]),
        ("minAmount=45.501", ["Hotel"]),
        ("minAmount=-10&maxAmount=9", ["Tarts", "Tram"]),
        ("currency=EUR", ["Fado", "Tarts", "Tram", "Hotel"]),
        ("currency=USD", []),
        ("_unknown=7", ["Fado", "Tarts", "Tram", "Hotel"]),
    ],
)
@pytest.mark.usefixtures("listed")
def test_filters_narrow_the_list(ledger: Ledger, vera: User, query: str, found: list[str]) -> None:
    assert names(ledger, vera, f"?{query}") == found


@pytest.mark.usefixtures("listed")
def test_expenses_of_a_payer(ledger: Ledger, olga: User, ed: User, vera: User) -> None:
    assert names(ledger, vera, f"?paidBy={ed.pk}") == ["Fado", "Tarts"]
    assert names(ledger, vera, f"?paidBy={vera.pk}") == []
    assert names(ledger, vera, f"?paidBy={olga.pk}&participant={vera.pk}") == ["Hotel"]


@pytest.mark.usefixtures("listed")
def test_payer_is_another_name_of_paid_by(ledger: Ledger, ed: User, vera: User) -> None:
    assert names(ledger, vera, f"?payer={ed.pk}") == ["Fado", "Tarts"]


@pytest.mark.usefixtures("listed")
def test_expenses_whose_splits_are_all_paid(ledger: Ledger, olga: User, vera: User) -> None:
    ledger.spend(olga, 5, olga, description="Gum", expenseDate="2026-05-13")
    assert names(ledger, vera, "?paid=true") == ["Gum"]
    assert names(ledger, vera, "?paid=false") == ["Fado", "Tarts", "Tram", "Hotel"]
    [tarts] = ledger.answer(vera, "get", "expenses?search=tarts").json()["items"]
    ledger.pay(tarts["splits"][0], olga)
    assert names(ledger, vera, "?paid=true") == ["Tarts", "Gum"]


def test_amounts_are_compared_in_the_currency_of_the_trip(ledger: Ledger, olga: User) -> None:
    ledger.spend(olga, 100, olga, description="Cab", currency="USD", exchangeRate=0.5)
    assert names(ledger, olga, "?minAmount=50&maxAmount=50&currency=USD") == ["Cab"]
    assert names(ledger, olga, "?minAmount=100") == []


def test_expenses_with_tags(ledger: Ledger, olga: User) -> None:
    for name, tags in {"A": ["Fish", "sea"], "B": ["FISH"], "C": ["fishing"], "D": []}.items():
        ledger.spend(olga, 1, olga, description=name, tags=tags)
    assert names(ledger, olga, "?tag=fish") == ["B", "A"]
    assert names(ledger, olga, "?tag=fish&tag=SEA") == ["A"]
    assert names(ledger, olga, "?tag=%20Fish%20") == ["B", "A"]
    assert names(ledger, olga, '?tag=["Fish"]') == names(ledger, olga, "?tag=soup") == []


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("crème", True),
        ("CREME", True),
        ("dessert café", True),
        ("çorba", False),
        ("lisboa", True),
        ("as nat", True),
        ("natas tram", False),
        ("[", False),
        ('"', False),
        ("%", True),
        ("100%", True),
        ("100_", False),
        ("10%%", False),
        ("\\", False),
        ("'; DROP TABLE splits_expense; --", False),
        ("crème & natas | !sopa:* <->", False),
        ("( ) & | ! : *", False),
        ("has_words(", False),
        ("x " * 127, False),
        ("á" * 255, False),
        ("\U0001f9f3", False),
    ],
)
def test_a_search_finds_all_words_in_texts_or_tags(
    ledger: Ledger, olga: User, query: str, is_found: bool
) -> None:
    ledger.spend(
        olga,
        1,
        olga,
        description="Crème brûlée",
        notes="and natas, 100% sugar",
        tags=["Café Lisboa", "DESSERT"],
    )
    ledger.spend(olga, 1, olga, description="Soup")
    found = names(ledger, olga, f"?{urlencode({'search': query})}")
    assert found == (["Crème brûlée"] if is_found else [])


@pytest.mark.parametrize("query", ["ΟΔΟΣ", "οδός", "οδοσ"])
def test_a_search_finds_greek_words_in_both_cases(ledger: Ledger, olga: User, query: str) -> None:
    for name in ("ΟΔΟΣ", "Οδός"):
        ledger.spend(olga, 1, olga, description=name)
    assert names(ledger, olga, f"?{urlencode({'search': query})}") == ["Οδός", "ΟΔΟΣ"]


@given(text=strategies.text(strategies.characters(codec="utf-8"), max_size=255))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_search_is_an_error(ledger: Ledger, olga: User, text: str) -> None:
    response = ledger.answer(olga, "get", f"expenses?{urlencode({'search': text, 'tag': text})}")
    assert response.status_code in {200, 400}


@pytest.mark.usefixtures("listed")
def test_expenses_of_a_participant(ledger: Ledger, olga: User, vera: User) -> None:
    assert names(ledger, vera, f"?participant={vera.pk}") == ["Fado", "Hotel"]
    assert names(ledger, vera, f"?participant={olga.pk}") == ["Tarts", "Tram", "Hotel"]


@pytest.mark.usefixtures("listed")
def test_the_search_looks_into_the_notes_too(ledger: Ledger, olga: User, vera: User) -> None:
    ledger.spend(olga, 1, olga, description="Tip", notes="for the hotel porter")
    assert names(ledger, vera, "?search=hotel") == ["Tip", "Hotel"]


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
def test_a_list_is_ordered_as_asked(
    ledger: Ledger, vera: User, ordering: str, order: list[str]
) -> None:
    assert names(ledger, vera, f"?ordering={ordering}") == order


@pytest.mark.parametrize(
    "query",
    [
        "ordering=description",
        "ordering=--amount",
        "ordering=id",
        "ordering=amount_minor",
        "dateFrom=14.05.2026",
        "dateTo=2026-02-30",
        "category=food",
        "category=PARROTS",
        "paidBy=x",
        "paidBy=0",
        "participant=1.5",
        "participant=9223372036854775808",
        "search=a%00b",
        "search=" + "a+" * 10_000,
        "from=soon",
        "to=2026-02-30",
        "payer=x",
        "minAmount=NaN",
        "minAmount=Infinity",
        "minAmount=1e999",
        "maxAmount=9,50",
        "maxAmount=-1000000000001",
        "currency=eur",
        "currency=XYZ",
        "paid=yes",
        "paid=1",
        "tag=" + "x" * 41,
        "tag=a%00b",
        "tag=" + "&tag=".join("abcdefghijk"),
        "page=0",
        "page=-1",
        "page=x",
        "page=1.0",
        "pageSize=0",
        "pageSize=101",
        "pageSize=all",
        "page=99999999999999999999999",
    ],
)
def test_a_query_that_means_nothing_is_refused_by_name(
    ledger: Ledger, vera: User, query: str
) -> None:
    response = ledger.answer(vera, "get", f"expenses?{query}")
    assert response.status_code == 400
    assert list(response.json()["errors"]) == [query.partition("=")[0]]


(LIST,) = (op for op in OPERATIONS if op.spec["operationId"] == "listExpenses")


@pytest.mark.parametrize("parameter", LIST.parameters("query"), ids=lambda p: p["name"])
def test_an_empty_parameter_counts_as_absent_where_the_document_allows_it(
    ledger: Ledger, vera: User, listed: list[str], parameter: dict[str, Any]
) -> None:
    query = f"?{parameter['name']}="
    if parameter.get("allowEmptyValue"):
        assert names(ledger, vera, query) == listed
    else:
        assert parameter["name"] in {"page", "pageSize", "deleted", "clientId", "format"}
        status = 406 if parameter["name"] == "format" else 400
        assert ledger.answer(vera, "get", f"expenses{query}").status_code == status


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("", {"total": 4, "page": 1, "pageSize": 20, "totalPages": 1}),
        ("?pageSize=3", {"total": 4, "page": 1, "pageSize": 3, "totalPages": 2}),
        ("?page=2&pageSize=3", {"total": 4, "page": 2, "pageSize": 3, "totalPages": 2}),
        ("?page=9&pageSize=100", {"total": 4, "page": 9, "pageSize": 100, "totalPages": 1}),
        ("?category=OTHER", {"total": 0, "page": 1, "pageSize": 20, "totalPages": 0}),
    ],
)
@pytest.mark.usefixtures("listed")
def test_a_page_says_where_it_is(
    ledger: Ledger, vera: User, query: str, page: dict[str, Any]
) -> None:
    body = ledger.answer(vera, "get", f"expenses{query}").json()
    items = body.pop("items")
    assert body == page
    start = (page["page"] - 1) * page["pageSize"]
    assert len(items) == max(0, min(page["pageSize"], page["total"] - start))


def test_pages_together_are_the_whole_list(ledger: Ledger, vera: User, listed: list[str]) -> None:
    pages = [names(ledger, vera, f"?pageSize=1&page={page}") for page in range(1, 6)]
    assert sum(pages, []) == listed


def test_expenses_of_other_trips_are_not_listed(ledger: Ledger, ledger_in: Any, olga: User) -> None:
    ledger_in("EUR").spend(olga, 1, olga)
    assert names(ledger, olga) == []


def test_settlements_are_listed_by_day_the_latest_first(
    ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
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
