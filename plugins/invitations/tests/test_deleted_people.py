"""Who replaces a guest does so in deleted entries, too, and these are restored accordingly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.invitations.tests.claims import accept, invite
from plugins.merging.tests.test_merges import merge
from splits.reports.audit import differences
from tests.document import problem_of
from tests.factories import add_guest, join, settle, spend
from tests.splits.histories import DECIMALS, DIVISION, HISTORIES
from tests.splits.ledger import exact
from tests.splits.scripted_history import STEPS, delete, history_with_guest, play
from tests.stored import rolled_back
from users.models import User


def url(trip, *parts):
    return "/".join(map(str, ("/api/trips", trip.pk, *parts)))


@pytest.fixture
def grandma(trip):
    return add_guest(trip)


def restored(api, trip, kind, pk, by):
    response = api(by).post(url(trip, kind, pk, "restore"))
    assert response.status_code == 200, response.content
    assert list(differences(trip.pk)) == []
    return response.json()


def test_an_account_that_claims_a_guest_has_its_place_in_what_was_deleted(
    api, trip, olga, ed, sam, grandma
):
    """T177: Who takes a guest's place takes it in deleted entries, too."""
    dinner = spend(trip, 1001, paid_by=olga, paid_by_user={grandma.pk: 1001}, among=[ed, grandma])
    payment = settle(trip, ed, grandma, 200, by=olga)
    client = api(olga)
    shown = client.get(url(trip, "expenses", dinner.pk)).json()
    for kind, row in (("expenses", dinner), ("settlements", payment)):
        assert client.delete(url(trip, kind, row.pk)).status_code == 204
    assert accept(api, sam, invite(api, trip, olga, grandma)).status_code == 201
    [listed] = client.get(url(trip, "expenses?deleted=true")).json()["items"]
    assert listed["paidBy"]["id"] == sam.pk
    back = restored(api, trip, "expenses", dinner.pk, olga)
    assert [row["participant"]["id"] for row in back["splits"]] == [ed.pk, sam.pk]
    for name in ("id", "amount"):
        assert [row[name] for row in back["splits"]] == [row[name] for row in shown["splits"]]
    assert restored(api, trip, "settlements", payment.pk, olga)["to"]["id"] == sam.pk


@pytest.mark.parametrize("position", [0, 1, 2])
def test_odd_cents_of_what_was_deleted_before_a_merge_stay_where_they_are(
    api, trip, olga, ed, vera, grandma, position
):
    """Ed has a lower id than Vera, the guest whose entries he gets has a higher one."""
    for _before in range(position):
        spend(trip, 100, paid_by=olga, among=[olga])
    taxi = spend(trip, 2, paid_by=olga, among=[olga, vera, grandma])
    shares = dict(taxi.splits.values_list("participant_id", "amount_minor"))
    assert api(olga).delete(url(trip, "expenses", taxi.pk)).status_code == 204
    assert merge(api, trip, grandma, ed, olga).status_code == 200
    restored(api, trip, "expenses", taxi.pk, olga)
    shares[ed.pk] = shares.pop(grandma.pk)
    assert dict(taxi.splits.values_list("participant_id", "amount_minor")) == shares


@pytest.fixture
def granny(db):
    """A guest whose id is the first, if the test asks for her first."""
    return User.create_guest("Granny")


def replace(api, history, guest, way, sam, granny):
    """Put somebody into the place of the guest; it is refused if an entry names both.

    Returns the status, and the ids of the expenses that name both.
    """
    trip, ada = history.ledger.trip, history.admin
    if way == "merge and claim":
        join(trip, granny)
        assert merge(api, trip, guest, granny, ada).status_code == 200
        guest, way = granny, "claim"
    if way == "merge":
        answer = merge(api, trip, guest, history.callers[1], ada)
    else:
        user = sam if way == "claim" else history.callers[1]
        answer = accept(api, user, invite(api, trip, ada, guest))
    assert list(differences(trip.pk)) == []
    if answer.status_code == 409:
        return 409, problem_of(answer, 409, "names_both")["expenses"]
    return answer.status_code, []


def picture(history):
    """Balances and expenses, also how much of each split is paid."""

    def get(path):
        return exact(history.send(history.admin, "get", path))

    expenses = get("expenses?pageSize=100")["items"]
    return sorted(get("balances"), key=lambda row: row["user"]["id"]), expenses


@pytest.mark.once
@pytest.mark.soak
@HISTORIES
@given(
    currency=st.sampled_from(sorted(DECIMALS)),
    expenses=st.lists(st.fixed_dictionaries(DIVISION), min_size=1, max_size=4),
    steps=STEPS,
    way=st.sampled_from(["merge", "claim", "claim by a member", "merge and claim"]),
)
def test_the_order_of_replacing_and_restoring_does_not_matter(
    granny, sam, api, olga, ed, vera, ada, currency, expenses, steps, way
):
    with history_with_guest(api, [olga, ed, vera], ada, currency) as (history, guest):
        trip, send = history.ledger.trip, history.send
        for division in expenses:
            send(ada, "post", "expenses", history.sent(**division).body)
        play(history, steps)
        ids = [row["id"] for row in exact(send(ada, "get", "expenses?pageSize=100"))["items"]]
        unmerged = picture(history)
        with rolled_back():
            before, both = replace(api, history, guest, way, sam, granny)
            for pk in both:
                assert delete(history, f"expenses/{pk}")
            if both:
                before, _none = replace(api, history, guest, way, sam, granny)
            expected = picture(history)
        if before == 409:
            # A settlement names both, too.
            both, expected = [], unmerged
        for pk in ids:
            assert delete(history, f"expenses/{pk}")
        assert replace(api, history, guest, way, sam, granny) == (before, [])
        deleted = exact(send(ada, "get", "expenses?deleted=true&pageSize=100"))["items"]
        if not steps:
            shown = [row for row in deleted if row["id"] not in both]
            assert sorted(shown, key=_by_id) == sorted(expected[1], key=_by_id)
        for pk in reversed(ids):
            restored = send(ada, "post", f"expenses/{pk}/restore")
            if pk in both:
                problem_of(restored, 409, "not_restorable")
            else:
                assert restored.status_code == 200
            assert list(differences(trip.pk)) == []
        assert picture(history) == expected


def _by_id(row):
    return row["id"]
