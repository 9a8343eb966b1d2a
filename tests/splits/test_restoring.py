"""What was deleted is in no sum and no list until it is restored: as it was, to the cent."""

import tracemalloc
from uuid import uuid4

import pytest

from splits.models import DeletedEntry, Settlement
from splits.reports.audit import differences
from tests.document import fields_in, problem_of
from tests.factories import PASSWORD, add_guest, settle, spend

KINDS = ("expenses", "settlements")


def url(trip, *parts):
    return "/".join(map(str, ("/api/trips", trip.pk, *parts)))


def test_an_expense_is_restored_as_it_was(api, trip, olga, ed, vera):
    """T158: Who may delete an entry restores it, once and to the cent."""
    dinner = spend(trip, 1000, paid_by=olga, among=[olga, ed, vera])
    by_ed = dinner.splits.get(participant=ed)
    path, client = url(trip, "expenses", dinner.pk), api(olga)
    assert api(ed).put(f"/api/expenses/{dinner.pk}/splits/{by_ed.pk}/pay").status_code == 200
    settle(trip, vera, olga, 100, by=olga)
    shown, balances = client.get(path).json(), client.get(url(trip, "balances")).json()
    settlements = client.get(url(trip, "settlements")).json()
    assert client.delete(path).status_code == 204
    problem_of(client.get(path), 404)
    assert client.get(url(trip, "expenses")).json()["items"] == []
    assert client.get(url(trip, "expenses?deleted=true")).json()["items"] == [shown]
    assert client.get(url(trip, "settlements?deleted=true")).json()["items"] == []
    assert list(differences(trip.pk)) == []
    restored = client.post(f"{path}/restore")
    assert (restored.status_code, restored.json()) == (200, shown)
    assert client.get(url(trip, "balances")).json() == balances
    assert client.get(url(trip, "settlements")).json() == settlements
    assert client.get(url(trip, "expenses?deleted=true")).json()["items"] == []
    assert list(differences(trip.pk)) == []
    problem_of(client.post(f"{path}/restore"), 409, "not_restorable")


def test_a_settlement_is_restored_and_covers_what_it_covered(api, trip, olga, ed):
    first = spend(trip, 1000, paid_by=olga, among=[ed])
    second = spend(trip, 1000, paid_by=olga, among=[ed])
    split = second.splits.get()
    client = api(olga)
    assert client.put(f"/api/expenses/{second.pk}/splits/{split.pk}/pay").status_code == 200
    path = url(trip, "settlements", Settlement.objects.get().pk)
    shown = client.get(path).json()
    assert client.delete(path).status_code == 204
    assert client.get(url(trip, "settlements?deleted=true")).json()["items"] == [shown]
    assert client.post(f"{path}/restore").json() == shown
    assert list(differences(trip.pk)) == []
    assert client.get(f"/api/expenses/{second.pk}/splits/{split.pk}").json()["paid"]
    assert not client.get(url(trip, "expenses", first.pk)).json()["splits"][0]["paid"]
    assert client.put(f"/api/expenses/{second.pk}/splits/{split.pk}/unpay").status_code == 200
    assert not Settlement.objects.exists()


def test_what_was_closed_is_closed_again(api, trip, olga, ed, vera):
    """Vera owes Ed, and hands the money to Olga, whom Ed owes as much."""
    dinner = spend(trip, 500, paid_by=olga, paid_by_user={ed.pk: 500}, among=[vera])
    boat = spend(trip, 500, paid_by=olga, among=[ed])
    settle(trip, vera, olga, 500, by=olga)
    client = api(olga)
    for expense in (dinner, boat):
        path = url(trip, "expenses", expense.pk)
        shown = client.get(path).json()
        assert [row["paid"] for row in shown["splits"]] == [True]
        assert client.delete(path).status_code == 204
        restored = client.post(f"{path}/restore").json()
        assert [row["paid"] for row in restored["splits"]] == [True]
        assert list(differences(trip.pk)) == []


@pytest.mark.parametrize("is_first", [True, False])
def test_a_payment_that_is_restored_before_its_expense_is_undone_with_it_again(
    api, trip, olga, ed, is_first
):
    client, dinner = api(olga), spend(trip, 1000, paid_by=olga, among=[ed])
    split = f"/api/expenses/{dinner.pk}/splits/{dinner.splits.get().pk}"
    assert client.put(f"{split}/pay").status_code == 200
    paths = [
        url(trip, "settlements", Settlement.objects.get().pk),
        url(trip, "expenses", dinner.pk),
    ]
    for path in paths:
        assert client.delete(path).status_code == 204
    for path in paths if is_first else reversed(paths):
        assert client.post(f"{path}/restore").status_code == 200
    assert Settlement.objects.get().split_id == dinner.splits.get().pk
    assert client.put(f"{split}/unpay").json()["paid"] is False
    assert not Settlement.objects.exists()


def many_closings(api, trip, olga, ed):
    """Forty deleted settlements that closed much; the bytes of a few of them."""
    client = api(olga)
    payment = settle(trip, ed, olga, 100)
    assert client.delete(url(trip, "settlements", payment.pk)).status_code == 204
    [entry] = DeletedEntry.objects.all()
    closed = [
        [None, at, None, payment.pk, 1, "2026-05-14T10:00:00Z"] for at in range(10**6, 10**6 + 5000)
    ]
    entry.stored["allocations"] = closed
    entry.save_rows()
    limit = 50 * len(entry.stored_rows)
    for at in range(1, 40):
        entry.pk, entry.object_id = None, payment.pk + at
        entry.save()
    return limit


def test_what_settlements_closed_is_in_memory_for_a_few_of_them_only(api, trip, olga, ed):
    limit = many_closings(api, trip, olga, ed)
    tracemalloc.start()
    assert api(olga).get(url(trip, "settlements?deleted=true&pageSize=100")).status_code == 200
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < limit


@pytest.mark.parametrize("kind", ["expenses", "settlements"])
def test_nothing_is_restored_for_people_who_left(api, trip, olga, vera, kind):
    dinner = spend(trip, 1000, paid_by=olga, among=[vera])
    payment = settle(trip, vera, olga, 500, by=olga)
    client = api(olga)
    for name, row in (("settlements", payment), ("expenses", dinner)):
        assert client.delete(url(trip, name, row.pk)).status_code == 204
    assert api(vera).post(url(trip, "members", "leave")).status_code == 204
    path = url(trip, kind, (dinner if kind == "expenses" else payment).pk, "restore")
    refused = problem_of(client.post(path), 409, "not_restorable")
    assert str(vera.pk) in refused["detail"]
    assert client.get(url(trip, f"{kind}?deleted=true")).json()["total"] == 1
    assert DeletedEntry.objects.count() == 2


def test_nothing_is_restored_in_another_currency(api, trip, olga):
    dinner = spend(trip, 1000, paid_by=olga, among=[olga])
    client = api(olga)
    client.delete(url(trip, "expenses", dinner.pk))
    assert client.patch(url(trip), {"currency": "JPY"}).status_code == 200
    path = url(trip, "expenses", dinner.pk, "restore")
    assert "EUR" in problem_of(client.post(path), 409, "not_restorable")["detail"]


def test_what_names_somebody_who_has_left_is_restored_at_once(api, trip, olga, ed, vera):
    """Whoever was gone when it was deleted; not who left in between."""
    guest = add_guest(trip)
    dinner = spend(trip, 900, paid_by=olga, among=[ed, vera, guest])
    payments = [settle(trip, user, olga, 300, by=olga) for user in (ed, vera, guest)]
    client = api(olga)
    assert api(ed).post(url(trip, "members", "leave")).status_code == 204
    assert api(vera).delete("/api/users/me", {"password": PASSWORD}).status_code == 204
    assert client.delete(url(trip, "members", guest.pk)).status_code == 204
    for kind, row in (("expenses", dinner), *(("settlements", row) for row in payments)):
        path = url(trip, kind, row.pk)
        shown = client.get(path).json()
        assert client.delete(path).status_code == 204
        assert client.post(f"{path}/restore").json() == shown
    assert list(differences(trip.pk)) == []


def test_deleted_entries_are_shown_in_the_currency_of_their_time(api, trip, olga, ed):
    dinner = spend(trip, 3000, paid_by=olga, among=[ed])
    payment = settle(trip, ed, olga, 3000, by=olga)
    client = api(olga)
    for kind, row in (("settlements", payment), ("expenses", dinner)):
        assert client.delete(url(trip, kind, row.pk)).status_code == 204
    before = [client.get(url(trip, f"{kind}?deleted=true")).json() for kind in KINDS]
    assert client.patch(url(trip), {"currency": "JPY"}).status_code == 200
    assert [client.get(url(trip, f"{kind}?deleted=true")).json() for kind in KINDS] == before
    assert before[1]["items"][0]["amount"] == 30.0


def test_a_deleted_expense_names_a_guest_who_is_gone(api, trip, olga, ed):
    guest = add_guest(trip)
    dinner = spend(trip, 1000, paid_by=olga, among=[ed, guest])
    client = api(olga)
    client.delete(url(trip, "expenses", dinner.pk))
    assert client.delete(url(trip, "members", guest.pk)).status_code == 204
    [shown] = client.get(url(trip, "expenses?deleted=true")).json()["items"]
    assert [row["participant"]["name"] for row in shown["splits"]] == ["Ed Editor", ""]
    problem_of(client.post(url(trip, "expenses", dinner.pk, "restore")), 409, "not_restorable")


def test_whether_to_list_what_was_deleted_is_true_or_false(api, trip, olga):
    for kind in ("expenses", "settlements"):
        assert fields_in(api(olga).get(url(trip, f"{kind}?deleted=yes"))) == ["deleted"]
        assert api(olga).get(url(trip, f"{kind}?deleted=false")).status_code == 200


def test_deleted_entries_are_not_filtered(api, trip, olga):
    """They have no columns of their own."""
    client = api(olga)
    filters = ["category=FOOD", "ordering=amount", f"clientId={uuid4()}"]
    for kind, query in [*(("expenses", one) for one in filters), ("settlements", filters[-1])]:
        [refused] = fields_in(client.get(url(trip, f"{kind}?deleted=true&{query}")))
        assert query.startswith(f"{refused}=")
    assert client.get(url(trip, "expenses?deleted=true&category=&page=1&_=1")).status_code == 200


@pytest.mark.parametrize("times", [1, 10])
def test_deleted_expenses_are_listed_with_as_many_queries(
    api, trip, olga, ed, times, django_assert_num_queries
):
    client = api(olga)
    for _time in range(times):
        client.delete(url(trip, "expenses", spend(trip, 1000, paid_by=olga, among=[olga, ed]).pk))
    with django_assert_num_queries(5):
        assert client.get(url(trip, "expenses?deleted=true")).json()["total"] == times
