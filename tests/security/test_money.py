"""Row T103, and money that is gone."""

from functools import partial

import pytest
from django.db.models import F
from rest_framework.exceptions import NotFound

from splits.models import Settlement
from splits.models.individual_splits import remove_split
from tests.stored import everything_stored


def test_t103_a_date_is_a_day_of_the_calendar(environment):
    """T103: A date is a valid calendar date.

    It may lie outside the trip: flights are paid before, and refunds come after.
    """

    ask, url = environment.ask, environment.url

    def status(day):
        body = environment.expense_body(expenseDate=day)
        return ask(environment.ed, "POST", f"{url}/expenses", body).status_code

    for good in ("0001-01-01", "9999-12-31", "2026-02-28"):
        assert status(good) == 201
    moved = {"startDate": "2030-01-01", "endDate": "2030-01-02"}
    assert ask(environment.olga, "PATCH", url, moved).status_code == 200
    listed = ask(environment.vera, "GET", f"{url}/expenses?pageSize=100").json()
    assert listed["total"] == environment.trip.expenses.count() == 5


def test_money_that_is_gone_is_not_deleted_again(environment):
    """Whoever read a row before it went gets the 404 of what never was, under the lock too."""
    given = environment.settlement()
    stale = Settlement.objects.get(pk=given.pk)
    given.remove(by=environment.olga)
    rows = environment.dinner.splits.filter(expense__trip=F("trip"))
    split = rows.select_related("expense").get(pk=environment.eds.pk)
    remove_split(split, by=environment.olga)
    for again in (stale.remove, partial(remove_split, split)):
        before = everything_stored()
        with pytest.raises(NotFound):
            again(by=environment.olga)
        assert everything_stored() == before
