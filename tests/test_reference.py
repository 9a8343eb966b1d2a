"""Currencies and categories: open to all, in the caller's language, kept by caches."""

import pytest
from django.test import Client

from splits.models import Category, SplitType
from tests.document import problem_of
from tests.trips.bodies import lisbon
from tripcompanion.currency.amounts import CODES, EXPONENTS
from trips.roles import TripRole

pytestmark = pytest.mark.either

PATHS = ("/api/currencies", "/api/categories")


def rows(client, path, language="en"):
    """The rows by code."""
    shown = client.get(path, headers={"Accept-Language": language}).json()
    return {row["code"]: row for row in shown}


def test_every_currency_has_its_decimals_and_a_name_in_two_languages(client):
    english, spanish = (rows(client, "/api/currencies", language) for language in ("en", "es"))
    assert list(english) == list(spanish) == list(CODES)
    assert english["EUR"] == {"code": "EUR", "name": "Euro", "decimals": 2}
    assert spanish["USD"] == {"code": "USD", "name": "Dólar estadounidense", "decimals": 2}
    assert (english["JPY"]["decimals"], english["KWD"]["decimals"]) == (0, 3)
    for code, row in english.items():
        assert row["decimals"] == EXPONENTS[code]
        assert row["name"]
        assert spanish[code]["name"]
    same = {code for code in english if english[code]["name"] == spanish[code]["name"]}
    assert len(same) < len(CODES) / 4


def test_every_category_has_a_name_in_two_languages(client):
    english, spanish = (rows(client, "/api/categories", language) for language in ("en", "es"))
    assert list(english) == list(spanish) == Category.values
    assert english["FOOD"] == {"code": "FOOD", "name": "Food"}
    assert spanish["FOOD"] == {"code": "FOOD", "name": "Comida"}


@pytest.mark.parametrize("path", PATHS)
def test_caches_keep_a_list_for_each_language(client, path):
    tags = set()
    for language in ("en", "es"):
        response = client.get(path, headers={"Accept-Language": language})
        assert response["Cache-Control"] == "public, max-age=604800"
        assert "Accept-Language" in response["Vary"]
        assert "Cookie" not in response["Vary"]
        tags.add(response["ETag"])
        headers = {"Accept-Language": language, "If-None-Match": response["ETag"]}
        again = client.get(path, headers=headers)
        assert (again.status_code, again.content) == (304, b"")
        for name in ("ETag", "Cache-Control", "Vary"):
            assert again[name] == response[name]
    assert len(tags) == 2


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("header", [None, "Bearer stale"])
def test_nobody_needs_a_token(client, path, header):
    headers = {"Authorization": header} if header else {}
    assert client.get(path, headers=headers).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_only_the_list_itself_is_for_caches(olga, limits, path):
    browser = Client()
    browser.force_login(olga)
    page = browser.get(path, headers={"Accept": "text/html"})
    assert page["Content-Type"].startswith("text/html")
    limits(anon="1/hour")
    Client().get(path)
    throttled = Client().get(path)
    assert throttled.status_code == 429
    for response in (page, throttled):
        assert response["Cache-Control"] == "no-store"


# -- Choices ---------------------------------------------------------------------------------------


def refused(response, field):
    """The only text about `field` in a refused request."""
    [text] = problem_of(response, 400, "invalid")["errors"][field]
    return text


def test_a_wrong_choice_is_told_the_right_ones(api, trip, olga):
    client, url = api(olga), f"/api/trips/{trip.pk}/expenses"
    body = {"category": "food", "splitType": 7}
    allowed = {"category": Category.values, "splitType": SplitType.values}
    for name, values in allowed.items():
        text = refused(client.post(url, body), name)
        assert text == (
            f'"{body[name]}" is not a valid choice. Choose one of: {", ".join(values)}.'
        )
    spanish = client.post(url, body, headers={"Accept-Language": "es"})
    assert refused(spanish, "category").endswith(f"{', '.join(Category.values)}.")
    role = client.post(f"/api/trips/{trip.pk}/members", {"email": olga.email, "role": "ADMIN"})
    assert refused(role, "role").endswith(f"Choose one of: {', '.join(TripRole)}.")


def test_a_wrong_filter_is_told_the_right_ones(api, trip, olga):
    client, url = api(olga), f"/api/trips/{trip.pk}/expenses"
    text = refused(client.get(f"{url}?category=food"), "category")
    assert text.endswith(f"Choose one of: {', '.join(Category.values)}.")
    text = refused(client.get(f"{url}?ordering=amount,price"), "ordering")
    assert text == (
        '"price" is not a valid choice. '
        "Choose one of: expenseDate, -expenseDate, amount, -amount, createdAt, -createdAt."
    )


def test_a_wrong_currency_is_told_where_the_right_ones_are(api, olga):
    client = api(olga)
    for response in (
        client.post("/api/trips", lisbon(currency="EURO")),
        client.get(f"/api/users/{olga.pk}/total-debt?currency=EURO"),
    ):
        text = refused(response, "currency")
        assert text == '"EURO" is not the code of a currency; /api/currencies lists them all.'
