"""What counts as one's own: an expense created or paid, a side of a debt, a settlement recorded."""

import pytest
from rest_framework.response import Response

from splits.models import Expense, Settlement
from tests.factories import join, overwrite, settle, spend
from tests.trips.bodies import dinner
from trips.roles import Access, Can, TripRole, access_of

pytestmark = pytest.mark.either


@pytest.fixture
def sam_too(trip, sam):
    """Sam, an EDITOR like Ed."""
    join(trip, sam, TripRole.EDITOR)
    return sam


def may_change(api, user, expense):
    """Whether `user` may patch it, replace it, delete a split of it, and delete it; all or none."""
    client = api(user)
    path = f"/api/trips/{expense.trip_id}/expenses/{expense.pk}"
    split, payers = expense.splits.first(), expense.payers.order_by("id")
    people = [item.participant for item in expense.splits.all()]
    sent = [{"userId": p.user_id, "amount": p.amount_minor / 100} for p in payers]
    body = dinner(*people, description="Tarts", amount=20, payers=sent)
    answers: list[Response] = [
        client.patch(path, {"notes": "Nice."}),
        client.put(path, body),
        client.delete(f"/api/expenses/{expense.pk}/splits/{split.pk}"),
        client.delete(path),
    ]
    statuses = [answer.status_code for answer in answers]
    assert statuses in ([200, 200, 204, 204], [403, 403, 403, 403])
    return statuses[0] == 200


def test_an_expense_is_that_of_who_created_it(api, trip, olga, ed):
    body = dinner(olga, amount=20, paidByUserId=olga.pk)
    made = api(ed).post(f"/api/trips/{trip.pk}/expenses", body)
    assert may_change(api, ed, Expense.objects.get(pk=made.json()["id"]))


def test_an_expense_is_that_of_who_paid_it(api, trip, olga, ed, vera):
    expense = spend(trip, 2000, paid_by=olga, among=[olga, vera], paid_by_user={ed.pk: 2000})
    assert may_change(api, ed, expense)


def test_an_expense_is_that_of_each_who_put_something_in(api, trip, olga, ed, sam_too):
    paid_by_user = {olga.pk: 1900, ed.pk: 60, sam_too.pk: 40}
    for payer in (ed, sam_too):
        expense = spend(trip, 2000, paid_by=olga, among=[olga], paid_by_user=paid_by_user)
        assert may_change(api, payer, expense)


def test_an_expense_is_not_that_of_who_merely_takes_part(api, trip, olga, ed):
    assert not may_change(api, ed, spend(trip, 2000, paid_by=olga, among=[olga, ed]))


@pytest.mark.parametrize("role", list(TripRole))
@pytest.mark.parametrize("act", ["pay", "unpay"])
@pytest.mark.parametrize(
    ("who", "is_side"), [("debtor", True), ("creditor", True), ("participant", False),
                         ("recorder", False), ("bystander", False)],
)  # fmt: skip
def test_a_split_is_paid_by_either_side_or_an_owner(
    api, trip, olga, ed, vera, sam, ada,
    who, is_side, act, role,
):  # fmt: skip
    """T73: A split can be paid by its debtor, its creditors or an OWNER.

    Olga recorded it, Ed paid, Vera owes; Sam has a part of his own, Ada is in the trip only.
    """
    join(trip, sam)
    join(trip, ada)
    overwrite(ada, role="USER")
    expense = spend(trip, 3000, paid_by=olga, among=[vera, sam], paid_by_user={ed.pk: 3000})
    split = expense.splits.get(participant=vera)
    if act == "unpay":
        split.pay(by=vera)
    people = {"debtor": vera, "creditor": ed, "participant": sam, "recorder": olga}
    people["bystander"] = ada
    trip.members.filter(user=people[who]).update(role=role)
    response = api(people[who]).put(f"/api/expenses/{expense.pk}/splits/{split.pk}/{act}")
    allowed = is_side or access_of(role, Can.SETTLE) is Access.ANY
    assert response.status_code == (200 if allowed else 403)
    shown = api(vera).get(f"/api/expenses/{expense.pk}/splits/{split.pk}").json()
    assert shown["paid"] is (allowed == (act == "pay"))


@pytest.mark.parametrize(
    ("recorder", "role", "status"),
    [("ed", "EDITOR", 204), ("olga", "EDITOR", 403), ("vera", "EDITOR", 403), ("ed", "VIEWER", 403),
     ("olga", "OWNER", 204)],
)  # fmt: skip
def test_a_settlement_is_that_of_who_recorded_it_not_of_its_sides(
    api, trip, olga, ed, vera, request,
    recorder, role, status,
):  # fmt: skip
    settlement = settle(trip, ed, vera, 500, by=request.getfixturevalue(recorder))
    trip.members.filter(user=ed).update(role=role)
    assert api(ed).delete(f"/api/trips/{trip.pk}/settlements/{settlement.pk}").status_code == status
    assert Settlement.objects.exists() is (status == 403)


def test_a_whole_plan_is_recorded_by_who_is_a_side_of_every_payment(api, trip, olga, ed, vera, sam):
    join(trip, sam)
    spend(trip, 3000, paid_by=olga, among=[olga, ed, vera])

    def record(user):
        client = api(user)
        tag = client.get(f"/api/trips/{trip.pk}/settle-up")["ETag"].strip('"')
        return client.post(f"/api/trips/{trip.pk}/settle-up", {"tag": tag})

    assert [record(user).status_code for user in (ed, vera, sam)] == [403, 403, 403]
    assert not Settlement.objects.exists()
    trip.members.filter(user=sam).update(role=TripRole.OWNER)
    trip.members.filter(user=olga).update(role=TripRole.VIEWER)
    assert record(olga).status_code == 201
    assert Settlement.objects.count() == 2
