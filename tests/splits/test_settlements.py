"""Money that one member handed to another: who records it, what is refused, what it covers."""

from itertools import product
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from splits.models import Settlement
from tests.splits.ledger import Json, Ledger
from trips.roles import Access, Can, TripRole, access_of
from users.models import User

ROLES = list(TripRole)
ABSENT: Any = object()


@pytest.fixture
def cast(olga: User, ed: User, vera: User) -> dict[TripRole, User]:
    return dict(zip(ROLES, (olga, ed, vera), strict=True))


def body(sender: User, receiver: User, amount: Any = 20, **fields: Any) -> Json:
    return {"fromUserId": sender.pk, "toUserId": receiver.pk, "amount": amount, **fields}


def test_a_settlement_is_recorded_as_it_was_sent(
    ledger: Ledger, olga: User, ed: User, vera: User
) -> None:
    sent = body(ed, olga, "12.345", settledOn="2026-05-20", note=" By card. ")
    response = ledger.answer(ed, "post", "settlements", sent)
    assert response.status_code == 201
    settlement = response.json()
    assert settlement.pop("credit") == 12.35
    assert response["Location"] == f"{ledger.url}/settlements/{settlement['id']}"
    assert ledger.answer(vera, "get", response["Location"]).json() == settlement
    assert settlement["tripId"] == ledger.trip.pk
    assert (settlement["from"]["id"], settlement["to"]["id"]) == (ed.pk, olga.pk)
    assert settlement["amount"] == 12.35
    assert (settlement["settledOn"], settlement["note"]) == ("2026-05-20", "By card.")
    assert settlement["createdAt"].endswith("Z")


def test_a_settlement_is_of_today_and_without_a_note_by_default(
    ledger: Ledger, olga: User, ed: User
) -> None:
    settlement = ledger.settle(ed, olga, 1)
    assert settlement["settledOn"] == f"{timezone.now():%Y-%m-%d}"
    assert settlement["note"] == ""


def test_it_moves_the_balances_of_the_two(ledger: Ledger, olga: User, ed: User, vera: User) -> None:
    ledger.settle(ed, olga, 12.5)
    assert ledger.balances() == {olga.pk: -12.5, ed.pk: 12.5, vera.pk: 0}


@pytest.mark.parametrize(("role", "side"), list(product(ROLES, ["sender", "receiver", "neither"])))
def test_who_may_record_a_settlement(
    ledger: Ledger, cast: dict[TripRole, User], bert: User, crowd: Any, role: TripRole, side: str
) -> None:
    user = cast[role]
    [third] = crowd(1)
    sender, receiver = {
        "sender": (user, bert),
        "receiver": (bert, user),
        "neither": (third, bert),
    }[side]
    response = ledger.answer(user, "post", "settlements", body(sender, receiver))
    access = access_of(role, Can.SETTLE)
    allowed = access is Access.ANY or (access is Access.OWN and side != "neither")
    assert response.status_code == (201 if allowed else 403)
    assert Settlement.objects.exists() == allowed


@pytest.mark.parametrize(("role", "recorder"), list(product(ROLES, ["oneself", "another"])))
def test_who_may_delete_a_settlement(
    ledger: Ledger,
    olga: User,
    cast: dict[TripRole, User],
    bert: User,
    role: TripRole,
    recorder: str,
) -> None:
    user = cast[role]
    settlement = ledger.settle(user, bert, 20, by=user if recorder == "oneself" else bert)
    access = access_of(role, Can.DELETE_SETTLEMENTS)
    allowed = access is Access.ANY or (access is Access.OWN and recorder == "oneself")
    response = ledger.answer(user, "delete", f"settlements/{settlement['id']}")
    assert response.status_code == (204 if allowed else 403)
    assert Settlement.objects.exists() != allowed


@pytest.mark.parametrize("role", ROLES)
def test_every_member_may_read_settlements(
    ledger: Ledger, olga: User, ed: User, cast: dict[TripRole, User], role: TripRole
) -> None:
    settlement = ledger.settle(ed, olga, 20)
    path = f"settlements/{settlement['id']}"
    assert access_of(role, Can.READ) is Access.ANY
    assert ledger.answer(cast[role], "get", path).json() == settlement
    assert ledger.answer(cast[role], "get", "settlements").json()["items"] == [settlement]


def test_a_stranger_gets_the_same_404_as_for_no_settlement_at_all(
    ledger: Ledger, olga: User, ed: User, sam: User
) -> None:
    settlement = ledger.settle(ed, olga, 20)
    for method in ("get", "delete"):
        response = ledger.answer(sam, method, f"settlements/{settlement['id']}")
        missing = ledger.answer(sam, method, "settlements/999999999")
        assert response.status_code == missing.status_code == 404
        assert response.json()["detail"] == missing.json()["detail"]
    assert ledger.answer(sam, "get", "settlements").status_code == 404
    assert ledger.answer(sam, "post", "settlements", body(sam, olga)).status_code == 404


def test_a_settlement_of_another_trip_is_404(
    ledger: Ledger, ledger_in: Any, olga: User, ed: User
) -> None:
    settlement = ledger_in("EUR").settle(ed, olga, 20)
    for method in ("get", "delete"):
        assert ledger.answer(olga, method, f"settlements/{settlement['id']}").status_code == 404


WRONG: dict[str, tuple[Any, ...]] = {
    "fromUserId": (ABSENT, None, "x", "", 1.5, True, 0, -1, 2**63, [], 2**63 - 1),
    "toUserId": (ABSENT, None, "x", "", 1.5, True, 0, -1, 2**63, [], 2**63 - 1),
    "amount": (ABSENT, None, "", "x", 0, -1, "0.004", "NaN", "1e400", 10**12 + 1, True, [], {}),
    "settledOn": (
        "",
        "20.05.2026",
        "2026-02-30",
        "2026-05-20T10:00:00Z",
        5,
        [],
    ),
    "note": (5, [], "x" * 2001),
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param(field, value, id=f"{field}-{'absent' if value is ABSENT else value!r:.20}")
        for field, values in WRONG.items()
        for value in values
    ],
)
def test_a_wrong_field_is_refused_by_name(
    ledger: Ledger, olga: User, ed: User, field: str, value: Any
) -> None:
    sent = body(ed, olga) | {field: value}
    if value is ABSENT:
        del sent[field]
    response = ledger.answer(olga, "post", "settlements", sent)
    assert response.status_code == 400
    assert list(response.json()["errors"]) == [field]
    assert ledger.settlements() == []


def test_nobody_settles_with_themselves(ledger: Ledger, ed: User) -> None:
    response = ledger.answer(ed, "post", "settlements", body(ed, ed))
    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["toUserId"]


def test_both_sides_are_members(ledger: Ledger, olga: User, vera: User, sam: User) -> None:
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    for other in (sam, vera):
        for sent, field in ((body(other, olga), "fromUserId"), (body(olga, other), "toUserId")):
            response = ledger.answer(olga, "post", "settlements", sent)
            assert response.status_code == 400
            assert list(response.json()["errors"]) == [field]


def test_it_may_be_dated_ahead(ledger: Ledger, olga: User, ed: User) -> None:
    response = ledger.answer(ed, "post", "settlements", body(ed, olga, settledOn="9999-01-01"))
    assert (response.status_code, response.json()["settledOn"]) == (201, "9999-01-01")
    assert ledger.balance(ed) == 20


@pytest.mark.parametrize("rows", [1, 12])
def test_a_list_costs_the_same_queries_for_one_settlement_and_for_twelve(
    ledger: Ledger,
    olga: User,
    ed: User,
    django_assert_num_queries: DjangoAssertNumQueries,
    rows: int,
) -> None:
    for _number in range(rows):
        ledger.settle(ed, olga, 1)
    ledger.answer(olga, "get", "")
    with django_assert_num_queries(3):  # token, trip, page
        page = ledger.answer(olga, "get", "settlements").json()
    assert len(page["items"]) == rows
