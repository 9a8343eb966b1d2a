"""What a user still owes: pending debts and their total, in both forms of the path."""

from datetime import date

import pytest

from splits.models import Rate
from tests.factories import join, owned_trip, spend
from trips.models import Member
from users.models import User

FORMS = ["/api/users/{}/{}", "/api/expenses/users/{}/{}"]


@pytest.fixture
def rates(db):
    for currency, per_euro in (("JPY", "160"), ("KWD", "0.35"), ("USD", "1.1")):
        Rate.objects.create(currency=currency, per_euro=per_euro, day=date(2026, 5, 14))


def total(ledger, user, query=""):
    response = ledger.answer(user, "get", f"/api/users/{user.pk}/total-debt{query}")
    assert response.status_code == 200, response.content
    return response.content.decode()


@pytest.mark.parametrize("form", FORMS)
def test_pending_debts_are_the_open_splits_oldest_first(ledger, ledger_in, olga, ed, vera, form):
    other = ledger_in("JPY")
    splits = [
        ledger.split(ledger.spend(olga, 10, ed, vera), ed),
        other.split(other.spend(olga, 1000, ed), ed),
        ledger.split(ledger.spend(olga, 30, ed), ed),
    ]
    own = ledger.spend(ed, 5, ed)
    answer = ledger.answer(ed, "get", form.format(ed.pk, "pending-debts"))
    assert answer.json() == splits
    assert own["splits"][0]["id"] not in [split["id"] for split in answer.json()]


@pytest.mark.parametrize("form", FORMS)
def test_the_total_is_one_bare_number(ledger, olga, ed, form):
    path = form.format(ed.pk, "total-debt")
    assert ledger.answer(ed, "get", path).content == b"0.00"
    ledger.spend(olga, 10, ed)
    ledger.spend(olga, 0.5, ed)
    assert ledger.answer(ed, "get", path).content == b"10.50"


def test_being_owed_elsewhere_does_not_lessen_a_debt(ledger, olga, ed):
    ledger.spend(olga, 10, ed)
    ledger.spend(ed, 10, olga)
    assert (total(ledger, ed), total(ledger, olga)) == ("10.00", "10.00")


def test_a_split_owed_to_several_people_is_pending_once(ledger, olga, ed, vera):
    payers = [{"userId": olga.pk, "amount": 20}, {"userId": ed.pk, "amount": 10}]
    split = ledger.spend(olga, 30, vera, payers=payers)["splits"][0]
    assert ledger.pending(vera) == [split["id"]]
    assert total(ledger, vera) == "30.00"


def test_debts_outlive_the_membership(ledger, olga, ed, vera):
    by_ed = ledger.spend(ed, 10, vera)
    ledger.spend(olga, 10, ed, paidByUserId=vera.pk)
    assert ledger.answer(vera, "post", "members/leave").status_code == 204
    assert ledger.pending(vera) == [by_ed["splits"][0]["id"]]
    assert total(ledger, vera) == "10.00"


@pytest.mark.usefixtures("rates")
def test_the_total_is_in_the_currency_of_the_user(ledger, ledger_in, olga, ed):
    ledger.spend(olga, 10, ed)
    ledger_in("JPY").spend(olga, 1000, ed)
    assert total(ledger, ed) == "16.25"
    User.objects.filter(pk=ed.pk).update(currency="JPY")
    assert total(ledger, ed) == "2600"


@pytest.mark.usefixtures("rates")
@pytest.mark.parametrize(
    ("currency", "expected"),
    [("EUR", "10.00"), ("USD", "11.00"), ("JPY", "1600"), ("KWD", "3.500")],
)
def test_the_total_may_be_asked_in_another_currency(ledger, olga, ed, currency, expected):
    ledger.spend(olga, 10, ed)
    assert total(ledger, ed, f"?currency={currency}") == expected


def test_the_latest_rate_counts(ledger, ledger_in, olga, ed):
    ledger_in("JPY").spend(olga, 1000, ed)
    rate = Rate.objects.create(currency="JPY", per_euro=160, day=date(2026, 5, 14))
    assert total(ledger, ed) == "6.25"
    rate.per_euro = 200
    rate.save()
    assert total(ledger, ed) == "5.00"


def test_without_a_rate_a_conversion_is_refused(ledger, ledger_in, olga, ed):
    ledger.spend(olga, 10, ed)
    assert total(ledger, ed, "?currency=EUR") == "10.00"
    response = ledger.answer(ed, "get", f"/api/users/{ed.pk}/total-debt?currency=JPY")
    assert (response.status_code, response.json()["code"]) == (409, "no_rate")
    assert response.json()["detail"] == "There is no rate from EUR to JPY."
    assert total(ledger, olga, "?currency=JPY") == "0"


def test_debts_whose_sum_takes_more_than_64_bits(api, olga, ed):
    for _trip in range(2):
        trip = owned_trip(olga, currency="CLF")
        join(trip, ed)
        spend(trip, 1, paid_by=olga, among=[ed])
    Member.objects.filter(user=ed).update(owed_minor=9 * 10**18 + 1)
    path = f"/api/users/{ed.pk}/total-debt?currency=CLF"
    for query in ("", "&answered=true"):
        assert api(ed).get(path + query).content == b"1800000000000000.0002"
