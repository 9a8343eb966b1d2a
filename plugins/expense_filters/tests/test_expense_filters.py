"""Filters of the list of expenses by words, tags, amounts, currency, and what is paid."""

from urllib.parse import urlencode

import pytest
from hypothesis import given, settings, strategies

from tests.document import problem_of


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("search=ta", ["Tarts"]),
        ("search=TRAM", ["Tram"]),
        ("search=%25", []),
        ("search=_", []),
        ("search=%20", ["Fado", "Tarts", "Tram", "Hotel"]),
        ("category=FOOD&search=tram", []),
        ("minAmount=45.50", ["Fado", "Hotel"]),
        ("maxAmount=45.5", ["Fado", "Tarts", "Tram"]),
        ("minAmount=45.501", ["Hotel"]),
        ("minAmount=-10&maxAmount=9", ["Tarts", "Tram"]),
        ("currency=EUR", ["Fado", "Tarts", "Tram", "Hotel"]),
        ("currency=USD", []),
    ],
)
@pytest.mark.usefixtures("listed")
def test_filters_narrow_the_list(ledger, vera, query, found):
    assert ledger.names(vera, f"?{query}") == found


@pytest.mark.usefixtures("listed")
def test_expenses_whose_splits_are_all_paid(ledger, olga, vera):
    ledger.spend(olga, 5, olga, description="Gum", expenseDate="2026-05-13")
    assert ledger.names(vera, "?paid=true") == ["Gum"]
    assert ledger.names(vera, "?paid=false") == ["Fado", "Tarts", "Tram", "Hotel"]
    [tarts] = ledger.answer(vera, "get", "expenses?search=tarts").json()["items"]
    ledger.pay(tarts["splits"][0], olga)
    assert ledger.names(vera, "?paid=true") == ["Tarts", "Gum"]


def test_amounts_are_compared_in_the_currency_of_the_trip(ledger, olga):
    ledger.spend(olga, 100, olga, description="Cab", currency="USD", exchangeRate=0.5)
    assert ledger.names(olga, "?minAmount=50&maxAmount=50&currency=USD") == ["Cab"]
    assert ledger.names(olga, "?minAmount=100") == []


def test_expenses_with_tags(ledger, olga):
    for name, tags in {"A": ["Fish", "sea"], "B": ["FISH"], "C": ["fishing"], "D": []}.items():
        ledger.spend(olga, 1, olga, description=name, tags=tags)
    assert ledger.names(olga, "?tag=fish") == ["B", "A"]
    assert ledger.names(olga, "?tag=fish&tag=SEA") == ["A"]
    assert ledger.names(olga, "?tag=%20Fish%20") == ["B", "A"]
    assert ledger.names(olga, '?tag=["Fish"]') == ledger.names(olga, "?tag=soup") == []


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        *(
            (text, True)
            for text in ("crème", "CREME", "dessert café", "lisboa", "as nat", "%", "100%")
        ),
        *((text, False) for text in ("çorba", "natas tram", "[", '"', "100_", "10%%", "\\")),
        ("100%", True),
        ("'; DROP TABLE splits_expense; --", False),
        *((text, False) for text in ("crème & natas | !sopa:* <->", "( ) & | ! : *", "has_words(")),
        *((text, False) for text in ("x " * 127, "á" * 255, "\U0001f9f3")),
    ],
)
def test_a_search_finds_all_words_in_texts_or_tags(ledger, olga, query, is_found):
    told = {"notes": "and natas, 100% sugar", "tags": ["Café Lisboa", "DESSERT"]}
    ledger.spend(olga, 1, olga, description="Crème brûlée", **told)
    ledger.spend(olga, 1, olga, description="Soup")
    found = ledger.names(olga, f"?{urlencode({'search': query})}")
    assert found == (["Crème brûlée"] if is_found else [])


@pytest.mark.parametrize("query", ["ΟΔΟΣ", "οδός", "οδοσ"])
def test_a_search_finds_greek_words_in_both_cases(ledger, olga, query):
    for name in ("ΟΔΟΣ", "Οδός"):
        ledger.spend(olga, 1, olga, description=name)
    assert ledger.names(olga, f"?{urlencode({'search': query})}") == ["Οδός", "ΟΔΟΣ"]


@given(text=strategies.text(strategies.characters(codec="utf-8"), max_size=255))
@settings(max_examples=60)
def test_no_search_is_an_error(ledger, olga, text):
    response = ledger.answer(olga, "get", f"expenses?{urlencode({'search': text, 'tag': text})}")
    assert response.status_code in {200, 400}


@pytest.mark.usefixtures("listed")
def test_the_search_looks_into_the_notes_too(ledger, olga, vera):
    ledger.spend(olga, 1, olga, description="Tip", notes="for the hotel porter")
    assert ledger.names(vera, "?search=hotel") == ["Tip", "Hotel"]


def test_a_query_has_ten_tags_at_most(ledger, vera):
    response = ledger.answer(vera, "get", "expenses?tag=" + "&tag=".join("abcdefghijk"))
    assert list(problem_of(response, 400)["errors"]) == ["tag"]


@pytest.mark.parametrize(
    "query", ["search=%00", "search=" + "x" * 256, "currency=x", "minAmount=x", "paid=x"]
)
def test_a_refusal_is_said_in_spanish_too(api, olga, trip, query):
    url = f"/api/trips/{trip.pk}/expenses?{query}"
    english, spanish = (
        problem_of(api(olga).get(url, headers={"Accept-Language": language}), 400)["detail"]
        for language in ("en", "es")
    )
    assert english != spanish
