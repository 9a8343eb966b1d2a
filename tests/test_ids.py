"""One rule says what an identifier is: in paths, bodies, queries and the OpenAPI document."""

import re

import pytest
from django.urls import resolve
from hypothesis import given
from hypothesis import strategies as st

from tests.document import DOCUMENT, OPERATIONS, resolved
from tripcompanion.api import error_views
from tripcompanion.api.serializers import MAX_ID, NUMBER_SCHEMA, TEXT_SCHEMA, parse_id

pytestmark = pytest.mark.either

LARGEST = 9_223_372_036_854_775_807
NO_ID_TEXTS = (
    *("", "0", "00", "07", "0007", "-1", "+1", "1.0", "1e0", " 1", "1 ", "1\n", "1_0", "0x1"),
    *("１", "٣", "x", str(LARGEST + 1), "9999999999999999999", "10000000000000000000"),
)


def is_id(value):
    try:
        return parse_id(value) == int(value)
    except ValueError:
        return False


@pytest.mark.parametrize("text", NO_ID_TEXTS)
def test_other_texts_are_no_identifiers(text):
    assert not is_id(text)
    assert re.fullmatch(TEXT_SCHEMA["pattern"], text) is None
    assert resolve(f"/api/users/{text}/profile").func is error_views.not_found


@pytest.mark.parametrize("value", [0, -1, LARGEST + 1, True, False, 1.0, None, [1], {"id": 1}])
def test_other_values_are_no_identifiers(value):
    assert not is_id(value)


@pytest.mark.parametrize("number", [1, 7, 10**18 - 1, 10**18, LARGEST - 1, LARGEST])
def test_whole_numbers_up_to_64_bits_are_identifiers(number):
    assert is_id(number)
    assert is_id(str(number))
    assert resolve(f"/api/users/{number}/profile").kwargs == {"user_id": number}


def test_every_path_takes_the_largest_identifier():
    for path in (path for path in DOCUMENT["paths"] if "Id}" in path):
        for number in (10**18, LARGEST):
            kwargs = resolve(re.sub(r"{[a-zA-Z]+Id}", str(number), path)).kwargs
            assert {kwargs[name] for name in kwargs if name.endswith("_id")} == {number}, path


@given(st.integers(-1, 10**20) | st.integers(LARGEST - 10**6, LARGEST + 10**6))
def test_the_pattern_of_the_document_is_the_bound(number):
    is_within = 1 <= number <= LARGEST
    assert is_id(number) is is_id(str(number)) is is_within
    assert (re.fullmatch(TEXT_SCHEMA["pattern"], str(number)) is not None) is is_within


def test_the_document_says_the_same_everywhere():
    assert DOCUMENT["components"]["schemas"]["Id"]["oneOf"] == [NUMBER_SCHEMA, TEXT_SCHEMA]
    assert NUMBER_SCHEMA["maximum"] == MAX_ID == LARGEST
    seen = set()
    for operation in OPERATIONS:
        for place in ("path", "query"):
            for parameter in operation.parameters(place):
                name = parameter["name"]
                if name.endswith("Id") and name != "clientId" or name in {"paidBy", "participant"}:
                    assert resolved(parameter["schema"]) == NUMBER_SCHEMA, (operation, name)
                    seen.add(name)
    assert seen >= {"tripId", "userId", "expenseId", "splitId", "paidBy", "participant"}
