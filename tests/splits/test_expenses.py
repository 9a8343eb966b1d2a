"""Recording, reading and deleting expenses, and who may do it."""

from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from splits.models import Expense
from tests.cast import Api
from tests.compiled_only import queries_of_parts
from tests.factories import TripFactory, join, spend
from tests.splits.ledger import Json, Ledger, exact
from trips.models import Trip
from trips.roles import Access, Can, TripRole, access_of
from users.models import User

pytestmark = pytest.mark.either

ROLES = list(TripRole)


@pytest.fixture
def cast(olga: User, ed: User, vera: User) -> dict[TripRole, User]:
    return dict(zip(ROLES, (olga, ed, vera), strict=True))


def summary(user: User) -> Json:
    return {
        "id": user.pk,
        "name": user.name,
        "email": user.email,
        "profilePicture": None,
        "guest": False,
    }


def test_an_expense_is_recorded_as_it_was_sent(
    ledger: Ledger, trip: Trip, olga: User, ed: User, vera: User
) -> None:
    body = ledger.expense_body(
        61.2,
        ed,
        vera,
        category="FOOD",
        receiptUrl="/receipts/7.pdf",
        notes="With fado.",
        tags=["Lisbon by night", "fish"],
        paidByUserId=olga.pk,
    )
    response = ledger.answer(ed, "post", "expenses", body)
    assert response.status_code == 201
    expense = response.json()
    assert response["Location"] == f"{ledger.url}/expenses/{expense['id']}"
    assert ledger.answer(vera, "get", response["Location"]).json() == expense
    shown = {name: expense[name] for name in body if name in expense}
    assert shown == {name: body[name] for name in shown}
    assert expense["tripId"] == trip.pk
    assert expense["currency"] == "EUR"
    assert expense["paidBy"] == summary(olga)
    assert expense["payers"] == [{"user": summary(olga), "amount": 61.2}]
    assert [split["participant"] for split in expense["splits"]] == [summary(ed), summary(vera)]
    assert expense["createdAt"].endswith("Z")
    assert expense["updatedAt"].endswith("Z")


def test_a_split_shows_its_expense_and_its_state(ledger: Ledger, olga: User, ed: User) -> None:
    expense = ledger.spend(olga, 60, ed)
    assert expense["splits"] == [
        {
            "id": expense["splits"][0]["id"],
            "expenseId": expense["id"],
            "participant": summary(ed),
            "amount": 60,
            "percentage": None,
            "paid": False,
            "paidAmount": 0,
            "paidAt": None,
        }
    ]


def test_optional_fields_have_defaults(ledger: Ledger, ed: User) -> None:
    expense = ledger.spend(ed, 60, ed)
    assert expense["category"] == "OTHER"
    assert expense["receiptUrl"] is None
    assert expense["notes"] == ""
    assert expense["tags"] == []


@pytest.mark.parametrize("category", ["ACCOMMODATION", "FOOD", "TRANSPORT", "ACTIVITIES", "OTHER"])
def test_every_category_is_taken(ledger: Ledger, olga: User, category: str) -> None:
    assert ledger.spend(olga, 60, olga, category=category)["category"] == category


def test_the_caller_paid_unless_somebody_is_named(ledger: Ledger, olga: User, ed: User) -> None:
    assert ledger.spend(ed, 60, olga)["paidBy"]["id"] == ed.pk
    assert ledger.spend(ed, 60, olga, paidByUserId=olga.pk)["paidBy"]["id"] == olga.pk


def test_of_several_payers_the_first_is_paid_by(
    ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
    payers = [{"userId": vera.pk, "amount": 40}, {"userId": olga.pk, "amount": 20.5}]
    expense = ledger.spend(ed, 60.5, ed, payers=payers)
    assert expense["paidBy"]["id"] == vera.pk
    paid_by_user = [(payer["user"]["id"], payer["amount"]) for payer in expense["payers"]]
    assert paid_by_user == [(vera.pk, 40), (olga.pk, 20.5)]


def test_texts_are_trimmed(ledger: Ledger, olga: User) -> None:
    expense = ledger.spend(olga, 1, olga, description="  Tram 28 ", notes=" late\n")
    assert (expense["description"], expense["notes"]) == ("Tram 28", "late")


@pytest.mark.parametrize(
    ("sent", "recorded"),
    [
        ("12.34", "12.34"),
        (Decimal("33.333"), "33.33"),
        ("0.125", "0.13"),
        (Decimal("0.005"), "0.01"),
        ("10.00" + 38 * "9", "10.01"),
        ("10.004" + 37 * "9", "10.00"),
        ("1e3", "1000.00"),
        (10**12, "1000000000000.00"),
        ("999999999999.99", "999999999999.99"),
    ],
)
def test_amounts_are_exact_and_rounded_half_up_to_the_currency(
    ledger: Ledger, olga: User, sent: Any, recorded: str
) -> None:
    response = ledger.answer(olga, "post", "expenses", ledger.expense_body(sent, olga))
    expense = exact(response)
    assert expense["amount"] == Decimal(recorded)
    assert expense["splits"][0]["amount"] == Decimal(recorded)


def test_ids_may_come_as_strings_of_digits(ledger: Ledger, olga: User, ed: User) -> None:
    expense = ledger.spend(
        olga, 60, participantUserIds=[str(olga.pk)], payers=[{"userId": str(ed.pk), "amount": 60}]
    )
    assert expense["paidBy"]["id"] == ed.pk


@pytest.mark.parametrize("role", ROLES)
def test_who_may_record_an_expense(
    ledger: Ledger, cast: dict[TripRole, User], role: TripRole
) -> None:
    user = cast[role]
    response = ledger.answer(user, "post", "expenses", ledger.expense_body(60, user))
    allowed = access_of(role, Can.RECORD) is Access.ANY
    assert response.status_code == (201 if allowed else 403)
    assert Expense.objects.exists() == allowed


@pytest.mark.parametrize("role", ROLES)
def test_every_member_may_read_expenses(
    ledger: Ledger, cast: dict[TripRole, User], role: TripRole
) -> None:
    expense = ledger.spend(cast[TripRole.EDITOR], 60, cast[TripRole.EDITOR])
    assert access_of(role, Can.READ) is Access.ANY
    assert ledger.answer(cast[role], "get", f"expenses/{expense['id']}").json() == expense
    assert ledger.answer(cast[role], "get", "expenses").json()["items"] == [expense]


@pytest.mark.parametrize(
    ("role", "ours", "method"),
    list(product(ROLES, ["created", "paid", "neither"], ["put", "patch", "delete"])),
)
def test_who_may_change_or_delete_an_expense(
    ledger: Ledger,
    trip: Trip,
    cast: dict[TripRole, User],
    bert: User,
    role: TripRole,
    ours: str,
    method: str,
) -> None:
    user = cast[role]
    created_by, paid_by = {
        "created": (user, bert),
        "paid": (bert, user),
        "neither": (bert, bert),
    }[ours]
    expense = spend(trip, 6000, paid_by=created_by, among=[bert], paid_by_user={paid_by.pk: 6000})
    body = None if method == "delete" else ledger.expense_body(61, bert)
    response = ledger.answer(user, method, f"expenses/{expense.pk}", body)
    access = access_of(role, Can.CHANGE_EXPENSES)
    allowed = access is Access.ANY or (access is Access.OWN and ours != "neither")
    done = 204 if method == "delete" else 200
    assert response.status_code == (done if allowed else 403)


def test_the_second_of_several_payers_may_change_it_too(
    ledger: Ledger, olga: User, ed: User
) -> None:
    payers = [{"userId": olga.pk, "amount": 20}, {"userId": ed.pk, "amount": 40}]
    expense = ledger.spend(olga, 60, olga, payers=payers)
    assert ledger.change(expense, ed, notes="Half of it was mine.")["notes"]


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_a_stranger_gets_the_same_404_as_for_no_expense_at_all(
    ledger: Ledger, olga: User, sam: User, method: str
) -> None:
    expense = ledger.spend(olga, 60, olga)
    response = ledger.answer(sam, method, f"expenses/{expense['id']}")
    missing = ledger.answer(sam, method, "expenses/999999999")
    assert response.status_code == missing.status_code == 404
    assert response.json()["detail"] == missing.json()["detail"]


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_neither_lists_nor_records(ledger: Ledger, sam: User, method: str) -> None:
    body = ledger.expense_body(1, sam) if method == "post" else None
    response = ledger.answer(sam, method, "expenses", body)
    assert response.status_code == 404


def test_without_a_token_nothing_is_shown(ledger: Ledger, api: Api) -> None:
    assert api(None).get(f"{ledger.url}/expenses").status_code == 401


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_an_expense_of_another_trip_is_404(ledger: Ledger, olga: User, method: str) -> None:
    other = TripFactory()
    join(other, olga, TripRole.OWNER)
    expense = spend(other, 100, paid_by=olga, among=[olga])
    body = ledger.expense_body(1, olga) if method in {"put", "patch"} else None
    response = ledger.answer(olga, method, f"expenses/{expense.pk}", body)
    assert response.status_code == 404
    assert Expense.objects.filter(pk=expense.pk, entered_minor=100).exists()


def test_an_admin_may_do_what_an_owner_may(ledger: Ledger, ada: User, olga: User, ed: User) -> None:
    expense = ledger.spend(ada, 60, olga, ed, paidByUserId=ed.pk)
    assert ledger.change(expense, ada, notes="Checked.")["notes"] == "Checked."
    ledger.delete(expense, ada)
    assert not Expense.objects.exists()


def test_an_admin_who_is_no_member_must_name_who_paid(
    ledger: Ledger, ada: User, olga: User
) -> None:
    response = ledger.answer(ada, "post", "expenses", ledger.expense_body(60, olga))
    assert response.status_code == 400


def test_a_deleted_expense_is_gone_with_its_splits_and_its_part_in_the_balances(
    ledger: Ledger, olga: User, ed: User
) -> None:
    expense = ledger.spend(olga, 60, olga, ed)
    response = ledger.answer(olga, "delete", f"expenses/{expense['id']}")
    assert (response.status_code, response.content) == (204, b"")
    assert ledger.answer(olga, "get", f"expenses/{expense['id']}").status_code == 404
    split = expense["splits"][1]
    split_path = f"/api/expenses/{expense['id']}/splits/{split['id']}"
    assert ledger.answer(olga, "get", split_path).status_code == 404
    assert not any(ledger.balances().values())
    assert ledger.pending(ed) == []
    assert ledger.answer(olga, "delete", f"expenses/{expense['id']}").status_code == 404


@pytest.mark.parametrize("expenses", [1, 9])
def test_a_list_costs_the_same_queries_for_one_expense_and_for_nine(
    ledger: Ledger,
    trip: Trip,
    olga: User,
    ed: User,
    django_assert_num_queries: DjangoAssertNumQueries,
    expenses: int,
) -> None:
    for _number in range(expenses):
        spend(trip, 6000, paid_by=olga, among=[olga, ed], paid_by_user={olga.pk: 4000, ed.pk: 2000})
    ledger.answer(olga, "get", "")
    with django_assert_num_queries(2 + queries_of_parts(2)):
        page = ledger.answer(olga, "get", "expenses").json()
    assert len(page["items"]) == expenses


@pytest.mark.parametrize("people", [1, 20])
def test_an_expense_costs_the_same_queries_for_one_split_and_for_twenty(
    ledger: Ledger,
    trip: Trip,
    olga: User,
    crowd: Any,
    django_assert_num_queries: DjangoAssertNumQueries,
    people: int,
) -> None:
    expense = spend(trip, 6000, paid_by=olga, among=crowd(people))
    ledger.answer(olga, "get", "")
    with django_assert_num_queries(2 + queries_of_parts(2)):
        assert ledger.answer(olga, "get", f"expenses/{expense.pk}").status_code == 200
