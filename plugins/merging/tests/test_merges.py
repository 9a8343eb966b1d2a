"""A guest is merged with a member: entries change their name, and no amount moves by a cent.

`tests/splits/test_neutral.py` has random histories that end with a merge or a claim.
"""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from splits.models import Debt
from splits.models.deleted import DeletedEntry
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import add_guest, settle, spend
from tests.test_costs import remaining
from tests.walked import answers
from users.models import User

#: How an account takes the place of a guest without a merge, if there is a way.
CLAIMS = answers("claim")


@pytest.fixture
def grandma(trip):
    return add_guest(trip)


def merge(api, trip, guest, into, by, **body):
    path = f"/api/trips/{trip.pk}/guests/{guest.pk}/merge"
    return api(by).post(path, {"userId": into.pk, **body})


def open_debts(trip, names):
    """What everybody owes to everybody, with some people under another id."""
    owed: Counter[tuple[int, int]] = Counter()
    for debt in Debt.objects.open().filter(trip=trip):
        pair = [names.get(user, user) for user in (debt.debtor_id, debt.creditor_id)]
        if pair[0] != pair[1]:
            owed[pair[0], pair[1]] += debt.open_minor
    return owed


def test_prune_beside_a_merge_takes_nothing_from_it(trip, olga, grandma):
    spend(trip, 1000, paid_by=olga, among=[olga, grandma]).remove(by=olga)
    entry = DeletedEntry.objects.get()
    DeletedEntry.objects.all().delete()
    entry.rename(grandma.pk, olga.pk)
    assert not DeletedEntry.objects.exists()


def test_the_entries_of_both_are_those_of_one(api, trip, olga, ed, vera, grandma):
    """T157: A merge gives a member all that the guest had, and moves no cent of others."""
    dinner = spend(trip, 9000, paid_by=olga, among=[olga, vera, grandma])
    spend(trip, 3000, paid_by=olga, paid_by_user={ed.pk: 3000}, among=[ed, vera, olga])
    settle(trip, grandma, olga, 1000, by=olga)
    before = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    preview = merge(api, trip, grandma, ed, olga, dryRun=True)
    assert preview.status_code == 200
    assert api(olga).get(f"/api/trips/{trip.pk}/balances").json() == before
    merged = merge(api, trip, grandma, ed, olga)
    assert merged.json() == preview.json()
    told = merged.json()
    assert (told["expenses"], told["settlements"]) == (1, 1)
    assert (told["guest"]["name"], told["user"]["name"]) == ("Grandma", "Ed Editor")
    assert (told["balanceBefore"], told["balanceAfter"]) == (20, 0)
    after = api(olga).get(f"/api/trips/{trip.pk}/balances").json()
    assert {row["user"]["name"]: row["balance"] for row in after} == {
        "Olga Owner": 40,
        "Ed Editor": 0,
        "Vera Viewer": -40,
    }
    shown = api(ed).get(f"/api/trips/{trip.pk}/expenses/{dinner.pk}").json()
    assert [(r["participant"]["id"], r["paidAmount"]) for r in shown["splits"]] == [
        (olga.pk, 30),
        (vera.pk, 0),
        (ed.pk, 10),
    ]
    assert not User.objects.filter(pk=grandma.pk).exists()
    assert list(differences(trip.pk)) == []


def state(api, trip, olga):
    paths = ("expenses", "settlements", "balances", "members")
    return [api(olga).get(f"/api/trips/{trip.pk}/{path}").content for path in paths]


def test_it_is_refused_where_an_entry_names_both(api, trip, olga, ed, vera, grandma):
    shared = spend(trip, 900, paid_by=olga, among=[olga, ed, grandma])
    paid = spend(trip, 900, paid_by=olga, paid_by_user={grandma.pk: 900}, among=[ed])
    spend(trip, 900, paid_by=olga, among=[vera, grandma])
    between = [settle(trip, grandma, ed, 500, by=olga), settle(trip, ed, grandma, 200, by=olga)]
    settle(trip, grandma, olga, 500, by=olga)
    named = {"expenses": [shared.pk, paid.pk], "settlements": [row.pk for row in between]}
    before = state(api, trip, olga)
    for body in ({"dryRun": True}, {}):
        problem = problem_of(merge(api, trip, grandma, ed, olga, **body), 409, "names_both")
        assert {name: problem[name] for name in named} == named
    for claim in CLAIMS:
        problem_of(claim(api, trip, olga, grandma, ed), 409, "names_both")
    assert state(api, trip, olga)[:4] == before[:4]
    assert trip.members.filter(user=grandma).exists()


def test_the_expenses_of_a_trip_are_not_joined_with_each_other(api, trip, olga, ed, grandma):
    """PostgreSQL knows nothing of a new trip, and would compare each expense with each other."""
    spend(trip, 900, paid_by=olga, among=[grandma])
    with CaptureQueriesContext(connection) as queries:
        assert merge(api, trip, grandma, ed, olga).status_code == 200
    texts = [one["sql"] for one in queries]
    assert any('FROM "splits_expense"' in text for text in texts)
    assert not [text for text in texts if text.count('FROM "splits_expense"') > 1]


@pytest.mark.parametrize("claim", [None, *CLAIMS])
def test_what_named_both_and_was_deleted_cannot_be_restored_afterwards(
    api, trip, olga, ed, grandma, claim
):
    shared = spend(trip, 900, paid_by=olga, among=[ed, grandma])
    alone = spend(trip, 900, paid_by=olga, among=[olga, grandma])
    between = settle(trip, grandma, ed, 500, by=olga)
    client, path = api(olga), f"/api/trips/{trip.pk}"
    problem = problem_of(merge(api, trip, grandma, ed, olga), 409, "names_both")
    assert (problem["expenses"], problem["settlements"]) == ([shared.pk], [between.pk])
    named = (f"{path}/expenses/{shared.pk}", f"{path}/settlements/{between.pk}")
    for url in (*named, f"{path}/expenses/{alone.pk}"):
        assert client.delete(url).status_code == 204
    if claim:
        assert claim(api, trip, olga, grandma, ed).status_code == 201
    else:
        assert merge(api, trip, grandma, ed, olga).status_code == 200
    before = state(api, trip, olga)
    for url in named:
        document = problem_of(client.post(f"{url}/restore"), 409, "not_restorable")
        assert "two people who have become one" in document["detail"]
    for kind, row in (("expenses", shared), ("settlements", between)):
        deleted = client.get(f"{path}/{kind}?deleted=true").json()["items"]
        assert row.pk in [one["id"] for one in deleted]
    assert state(api, trip, olga) == before
    restored = client.post(f"{path}/expenses/{alone.pk}/restore").json()
    assert {split["participant"]["id"] for split in restored["splits"]} == {olga.pk, ed.pk}


@pytest.mark.parametrize("is_deleted", [False, True])
def test_items_that_name_both_count_too_after_a_split_was_deleted(
    api, trip, olga, ed, grandma, is_deleted
):
    """Otherwise the shares of an item would have the same person twice."""
    shares = {user.pk: 1 for user in (olga, ed, grandma)}
    items = {"splitType": "ITEMIZED", "items": [{"name": "Fish", "amount": 9, "shares": shares}]}
    body = {"description": "Dinner", "amount": 9, "expenseDate": "2026-05-14", **items}
    client, url = api(olga), f"/api/trips/{trip.pk}/expenses"
    dinner = client.post(url, body).json()
    for split in dinner["splits"]:
        if split["participant"]["id"] != olga.pk:
            path = f"/api/expenses/{dinner['id']}/splits/{split['id']}"
            assert client.delete(path).status_code == 204
    if not is_deleted:
        problem = problem_of(merge(api, trip, grandma, ed, olga), 409, "names_both")
        assert problem["expenses"] == [dinner["id"]]
        return
    assert client.delete(f"{url}/{dinner['id']}").status_code == 204
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    problem_of(client.post(f"{url}/{dinner['id']}/restore"), 409, "not_restorable")


@pytest.mark.parametrize("claim", [None, *CLAIMS])
def test_what_was_closed_for_others_stays_closed(api, trip, olga, ed, sam, grandma, claim):
    """Ed owes Olga, Grandma owes Ed, and the plan sends Grandma's money to Olga."""
    spend(trip, 3000, paid_by=olga, among=[ed])
    spend(trip, 3000, paid_by=olga, paid_by_user={ed.pk: 3000}, among=[grandma])
    closing = settle(trip, grandma, olga, 3000, by=olga)
    if claim:
        answer = claim(api, trip, olga, grandma, sam)
    else:
        # The closing settlement is between these two.
        problem_of(merge(api, trip, grandma, olga, olga), 409, "names_both")
        answer = merge(api, trip, grandma, add_guest(trip, "Granny"), olga)
    assert answer.status_code in {200, 201}
    assert api(ed).get(f"/api/users/{ed.pk}/pending-debts").json() == []
    assert not open_debts(trip, {})
    assert list(differences(trip.pk)) == []
    api(olga).delete(f"/api/trips/{trip.pk}/settlements/{closing.pk}")
    assert sorted(open_debts(trip, {}).values()) == [3000, 3000]


def test_it_takes_as_many_statements_for_many_expenses(api, trip, olga, ed, vera):
    counts = []
    for expenses in (1, 30):
        guest = add_guest(trip)
        for _number in range(expenses):
            spend(trip, 900, paid_by=olga, among=[vera, guest])
        with CaptureQueriesContext(connection) as queries:
            assert merge(api, trip, guest, ed, olga).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert list(differences(trip.pk)) == []


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_both_beyond_64_bits_are_refused(api, trip, olga, ed, grandma, sign):
    sums = {"paid_minor": sign * 2**62, "share_minor": sign * 2**62}
    trip.members.filter(user__in=[ed, grandma]).update(
        **sums, sent_minor=2**61, received_minor=2**61
    )
    for body in ({"dryRun": True}, {}):
        problem_of(merge(api, trip, grandma, ed, olga, **body), 400, "out_of_range")
    # Sums of which each is in range are settled up.
    assert api(olga).get(f"/api/trips/{trip.pk}/settle-up").json() == []


def test_the_odd_cents_stay_where_they_were(api, trip, olga, ed, vera):
    grandma = add_guest(trip)
    assert ed.pk < vera.pk < grandma.pk
    dinners = [spend(trip, 1000, paid_by=olga, among=[olga, vera, grandma]) for _day in range(3)]
    before = [
        list(dinner.splits.order_by("pk").values_list("pk", "amount_minor")) for dinner in dinners
    ]
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    for dinner, parts in zip(dinners, before, strict=True):
        path = f"/api/trips/{trip.pk}/expenses/{dinner.pk}"
        assert api(olga).patch(path, {"notes": "Divided again."}).status_code == 200
        assert list(dinner.splits.order_by("pk").values_list("pk", "amount_minor")) == parts
    assert list(differences(trip.pk)) == []


def test_only_a_guest_is_merged_and_only_with_another_present_member(
    api, trip, olga, ed, vera, sam, grandma
):
    problem_of(merge(api, trip, ed, vera, olga), 409, "not_a_guest")
    problem_of(merge(api, trip, sam, vera, olga), 404, "not_found")
    api(vera).post(f"/api/trips/{trip.pk}/members/leave")
    for user in (sam, vera, grandma):
        refused = merge(api, trip, grandma, user, olga)
        assert list(problem_of(refused, 400, "invalid")["errors"]) == ["userId"]
    refused = merge(api, trip, grandma, ed, olga, dryRun="yes")
    assert list(problem_of(refused, 400, "invalid")["errors"]) == ["dryRun"]
    assert trip.members.filter(user=grandma).exists()


def test_it_counts_as_much_as_the_entries_that_it_goes_through(
    api, trip, olga, ed, limits, grandma
):
    limits(user="10/min")
    for _expense in range(200):
        spend(trip, 100, paid_by=olga, among=[ed])
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    assert remaining(api(olga).get("/api/users/me")) == 6
