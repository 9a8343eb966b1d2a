"""Bodies of expenses that are refused, each with the field that is wrong, and nothing written."""

from decimal import Decimal
from typing import Any

import pytest

from splits.models import Expense
from tests.factories import UserFactory, join
from tests.splits.ledger import Json, Ledger
from trips.models import Trip
from users.models import User

pytestmark = pytest.mark.once

ABSENT: Any = object()
NOT_TEXTS = (5, True, [], {})
NOT_AMOUNTS = (
    None,
    "",
    " 5 ",
    "five",
    "1,5",
    "0x10",
    "1_000",
    "١٢",
    True,
    [],
    {},
    "NaN",
    "Infinity",
)
ZERO = (0, "0.00", "0.004", "-0.004")
#: Of a payer of something positive.
NOT_POSITIVE = (*ZERO, -1, "-0.01")
TOO_LARGE = (
    "-1000000000000.01",
    "1000000000000.01",
    10**12 + 1,
    Decimal(10**30),
    "1e400",
    "1e-400",
)
NOT_IDS = ("x", "", "1.0", 1.5, True, None, 0, -1, 2**63, "9" * 30, [], {})


def wrong_fields() -> list[Any]:
    """Each wrong value by the field that it stands in."""
    wrong = {
        "description": (ABSENT, None, "", "   ", "x" * 256, *NOT_TEXTS),
        "amount": (ABSENT, *NOT_AMOUNTS, *ZERO, *TOO_LARGE),
        "expenseDate": (
            ABSENT,
            None,
            "",
            "14.05.2026",
            "2026-02-30",
            "2026-05-14T10:00:00Z",
            "2026-5-14",
            "２０２６-05-14",
            20260514,
            *NOT_TEXTS,
        ),
        "splitType": (ABSENT, None, "", "equal", "HALVES", *NOT_TEXTS),
        "participantUserIds": (ABSENT, None, [], "1", 1, {}, *([value] for value in NOT_IDS)),
        "paidByUserId": [value for value in NOT_IDS if value is not None],
        "payers": ([], {}, "1", [1], [{}], [None]),
        "category": ("", "food", "PARROTS", *NOT_TEXTS),
        "receiptUrl": (
            "",
            "javascript:alert(1)",
            "data:text/html,x",
            "ftp://example.com/x",
            "//example.com/x",
            "https://",
            "/" + "x" * 2048,
            *NOT_TEXTS,
        ),
        "notes": ("x" * 2001, *NOT_TEXTS),
        "tags": (["x" * 41], [f"{n}" for n in range(11)], [""], [" "], [None], [1], {}, "beach"),
    }
    return [
        pytest.param(
            field, value, id=f"{field}-{'absent' if value is ABSENT else repr(value)[:30]}"
        )
        for field, values in wrong.items()
        for value in values
    ]


def fields_of(problem: Json) -> set[str]:
    """The fields that a problem document complains about, without their inner paths."""
    assert problem["code"] == "invalid"
    assert all(text for texts in problem["errors"].values() for text in texts)
    return {path.partition(".")[0] for path in problem["errors"]}


def refused(ledger: Ledger, user: User, body: Json) -> Json:
    """The problem document of a body that is refused."""
    response = ledger.answer(user, "post", "expenses", body)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert not Expense.objects.exists()
    return response.json()


@pytest.mark.parametrize(("field", "value"), wrong_fields())
def test_a_wrong_field_is_refused_by_name(
    ledger: Ledger, olga: User, field: str, value: Any
) -> None:
    body = ledger.expense_body(60, olga, **{field: value})
    if value is ABSENT:
        del body[field]
    assert fields_of(refused(ledger, olga, body)) == {field}


@pytest.mark.parametrize("value", NOT_IDS)
def test_a_payer_is_an_id(ledger: Ledger, olga: User, value: Any) -> None:
    payers = [{"userId": value, "amount": 60}]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))
    assert set(problem["errors"]) == {"payers.0.userId"}


@pytest.mark.parametrize("value", [*NOT_AMOUNTS, *NOT_POSITIVE, *TOO_LARGE])
def test_what_a_payer_paid_by_user_is_an_amount(ledger: Ledger, olga: User, value: Any) -> None:
    payers = [{"userId": olga.pk, "amount": value}]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))
    assert set(problem["errors"]) == {"payers.0.amount"}


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
@pytest.mark.parametrize("value", [*NOT_AMOUNTS, 0, -1, "-0.01", Decimal(10**30), "1e400"])
def test_what_a_participant_is_given_is_a_positive_number(
    ledger: Ledger, olga: User, split_type: str, value: Any
) -> None:
    body = ledger.expense_body(60, olga, splitType=split_type, splitAmounts={str(olga.pk): value})
    assert fields_of(refused(ledger, olga, body)) == {"splitAmounts"}


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
@pytest.mark.parametrize(
    "value", [ABSENT, None, [], "x", 5, {}, {"x": 1}, {"": 1}, {"-1": 1}, {"1.0": 1}, {"9" * 30: 1}]
)
def test_what_is_not_numbers_by_user_id_is_refused(
    ledger: Ledger, olga: User, split_type: str, value: Any
) -> None:
    body = ledger.expense_body(60, olga, splitType=split_type)
    if value is not ABSENT:
        body["splitAmounts"] = value
    assert fields_of(refused(ledger, olga, body)) == {"splitAmounts"}


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
def test_a_participant_without_a_number_is_named(
    ledger: Ledger, olga: User, ed: User, split_type: str
) -> None:
    body = ledger.expense_body(
        100, olga, ed, splitType=split_type, splitAmounts={str(olga.pk): 100}
    )
    problem = refused(ledger, olga, body)
    assert str(ed.pk) in problem["errors"]["splitAmounts"][0]


@pytest.mark.parametrize("split_type", ["MANUAL", "PERCENTAGE", "SHARES"])
def test_a_number_for_somebody_who_is_no_participant_is_refused(
    ledger: Ledger, olga: User, ed: User, split_type: str
) -> None:
    amounts = {str(olga.pk): 50, str(ed.pk): 50}
    body = ledger.expense_body(100, olga, splitType=split_type, splitAmounts=amounts)
    problem = refused(ledger, olga, body)
    assert str(ed.pk) in problem["errors"]["splitAmounts"][0]


@pytest.mark.parametrize(("second", "difference"), [(29.99, "0.01"), (35, "-5.00")])
def test_exact_amounts_must_add_up_and_the_text_says_by_how_much_they_miss(
    ledger: Ledger, olga: User, ed: User, second: float, difference: str
) -> None:
    amounts = {str(olga.pk): 30, str(ed.pk): second}
    body = ledger.expense_body(60, olga, ed, splitType="MANUAL", splitAmounts=amounts)
    problem = refused(ledger, olga, body)
    assert difference in problem["errors"]["splitAmounts"][0]
    assert difference in problem["detail"] == problem["message"]


@pytest.mark.parametrize(("second", "difference"), [(29.99, "0.01"), (35, "-5.00")])
def test_what_the_payers_paid_by_user_must_add_up_and_the_text_says_by_how_much_it_misses(
    ledger: Ledger, olga: User, ed: User, second: float, difference: str
) -> None:
    payers = [{"userId": olga.pk, "amount": 30}, {"userId": ed.pk, "amount": second}]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))
    assert difference in problem["errors"]["payers"][0]


@pytest.mark.parametrize(("second", "total"), [(50.01, "100.01"), ("49.9999", "99.9999")])
def test_percentages_must_add_up_to_a_hundred(
    ledger: Ledger, olga: User, ed: User, second: Any, total: str
) -> None:
    percentages = {str(olga.pk): 50, str(ed.pk): second}
    body = ledger.expense_body(60, olga, ed, splitType="PERCENTAGE", splitAmounts=percentages)
    assert total in refused(ledger, olga, body)["errors"]["splitAmounts"][0]


@pytest.mark.parametrize("percentage", ["100.01", "33.33333", 101])
def test_a_percentage_is_at_most_a_hundred_and_has_at_most_four_decimals(
    ledger: Ledger, olga: User, percentage: Any
) -> None:
    percentages = {str(olga.pk): percentage}
    body = ledger.expense_body(60, olga, splitType="PERCENTAGE", splitAmounts=percentages)
    assert fields_of(refused(ledger, olga, body)) == {"splitAmounts"}


@pytest.mark.parametrize("make", [int, str])
def test_no_participant_is_named_twice(ledger: Ledger, olga: User, make: type) -> None:
    body = ledger.expense_body(60, olga, participantUserIds=[olga.pk, make(olga.pk)])
    assert fields_of(refused(ledger, olga, body)) == {"participantUserIds"}


@pytest.mark.parametrize("each", [30, 60])
def test_no_payer_is_named_twice(ledger: Ledger, olga: User, each: int) -> None:
    """Neither where both together are the amount, nor where one alone is."""
    payers = [{"userId": olga.pk, "amount": each}] * 2
    assert fields_of(refused(ledger, olga, ledger.expense_body(60, olga, payers=payers))) == {
        "payers"
    }


def test_an_expense_has_at_most_twenty_payers(ledger: Ledger, trip: Trip, olga: User) -> None:
    """Every participant may owe every payer, so that is what one expense can add to the ledger."""
    people = UserFactory.create_batch(21)
    for person in people:
        join(trip, person)
    payers = [{"userId": person.pk, "amount": 1} for person in people]
    refusal = refused(ledger, olga, ledger.expense_body(21, olga, payers=payers))
    assert fields_of(refusal) == {"payers"}
    assert ledger.spend(olga, 20, olga, payers=payers[:20])["payers"][19]["amount"] == 1


def test_paid_by_is_the_first_of_the_payers_if_both_are_given(
    ledger: Ledger, olga: User, ed: User
) -> None:
    payers = [{"userId": olga.pk, "amount": 30}, {"userId": ed.pk, "amount": 30}]
    body = ledger.expense_body(60, olga, payers=payers, paidByUserId=ed.pk)
    assert fields_of(refused(ledger, olga, body)) == {"paidByUserId"}


@pytest.mark.parametrize("who", ["a stranger", "a former member", "nobody"])
@pytest.mark.parametrize("field", ["participantUserIds", "paidByUserId", "payers"])
def test_whoever_is_named_must_be_a_member(
    ledger: Ledger, olga: User, vera: User, sam: User, field: str, who: str
) -> None:
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    user_id = {"a stranger": sam.pk, "a former member": vera.pk, "nobody": 2**63 - 1}[who]
    value = {
        "participantUserIds": [olga.pk, user_id],
        "paidByUserId": user_id,
        "payers": [{"userId": olga.pk, "amount": 30}, {"userId": user_id, "amount": 30}],
    }[field]
    problem = refused(ledger, olga, ledger.expense_body(60, olga, **{field: value}))
    assert fields_of(problem) == {field}
    assert str(user_id) in problem["detail"]


def test_every_wrong_field_is_named_at_once(ledger: Ledger, olga: User) -> None:
    body = ledger.expense_body("x", olga, description="", category="PARROTS")
    assert fields_of(refused(ledger, olga, body)) == {"amount", "description", "category"}


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_numbers_that_json_has_not_are_malformed(ledger: Ledger, olga: User, number: bytes) -> None:
    client = ledger.client(olga)
    body = b'{"description": "x", "amount": %s}' % number
    response = client.post(f"{ledger.url}/expenses", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "malformed_json")


@pytest.mark.parametrize("field", ["description", "notes", "receiptUrl"])
@pytest.mark.parametrize("character", ["\x00", "\ud800"])
def test_characters_that_no_database_takes_are_refused(
    ledger: Ledger, olga: User, field: str, character: str
) -> None:
    escaped = character.encode("unicode_escape").replace(b"\\x", b"\\u00")
    body = b'{"%s": "a%sb"}' % (field.encode(), escaped)
    client = ledger.client(olga)
    response = client.post(f"{ledger.url}/expenses", body, content_type="application/json")
    assert response.status_code == 400
    assert not Expense.objects.exists()


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"5", b'"text"', b"{"])
def test_a_body_is_a_json_object(ledger: Ledger, olga: User, body: bytes) -> None:
    client = ledger.client(olga)
    response = client.post(f"{ledger.url}/expenses", body, content_type="application/json")
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("name", "item"),
    [("participantUserIds", 0), ("items", {}), ("payers", {}), ("tags", 1)],
)
def test_a_list_that_is_too_long_is_not_read(
    ledger: Ledger, olga: User, name: str, item: Any
) -> None:
    """Each of its items would be a line of the answer, and a megabyte has half a million."""
    body = {"description": "Dinner", "amount": 9, "splitType": "ITEMIZED", name: [item] * 1001}
    answer = ledger.answer(olga, "post", f"{ledger.url}/expenses", body)
    assert answer.status_code == 400
    assert [key for key in answer.json()["errors"] if key.startswith(name)] == [name]
