"""Rules that were made at random cause no internal error, and no more dates than they may.

`make soak MINUTES=10 ARGS=plugins/recurring/tests` repeats it for ten minutes.
"""

from datetime import date, timedelta
from itertools import islice

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.recurring.rules import MAX_YEARS, dates_of

pytestmark = pytest.mark.either

_NAMES = (
    *("FREQ", "INTERVAL", "COUNT", "UNTIL", "BYDAY", "BYMONTH", "BYMONTHDAY", "BYSETPOS", "WKST"),
    *("BYHOUR", "BYSECOND", "BYWEEKNO", "BYYEARDAY", "BYEASTER", "DTSTART", "RRULE", "", "X"),
)
_FREQUENCIES = st.sampled_from(("DAILY", "WEEKLY", "MONTHLY", "YEARLY", "HOURLY", "SECONDLY"))
_numbers = st.integers(-366, 366) | st.sampled_from((-(10**9), 10**6, 10**19))
_weekdays = st.tuples(
    st.just("") | st.integers(-60, 60).map(str), st.sampled_from(("MO", "WE", "FR", "SU", "XX"))
).map("".join)
_days = st.dates(date(1, 1, 1), date(9999, 12, 31)).map("{0:%Y}{0:%m}{0:%d}".format)
_values = st.one_of(
    st.lists(_numbers.map(str), min_size=1, max_size=4).map(",".join),
    st.lists(_weekdays, min_size=1, max_size=4).map(",".join),
    _FREQUENCIES,
    _days,
    _days.map("{}T000000Z".format),
    st.text(max_size=10),
)


def _sensible(name, least, most):
    numbers = st.lists(st.integers(least, most).filter(bool).map(str), min_size=1, max_size=4)
    return numbers.map(lambda found: f"{name}={','.join(found)}")


#: Parts that make sense by themselves, and parts that may be anything.
_parts = st.one_of(
    st.integers(1, 999).map("INTERVAL={}".format),
    st.integers(1, 9999).map("COUNT={}".format),
    _days.map("UNTIL={}".format),
    _sensible("BYMONTH", 1, 12),
    _sensible("BYMONTHDAY", -31, 31),
    _sensible("BYSETPOS", -400, 400),
    st.lists(_weekdays, min_size=1, max_size=4).map(lambda days: f"BYDAY={','.join(days)}"),
    st.tuples(st.sampled_from(_NAMES), _values).map("=".join),
)
_rules = (
    st.tuples(_FREQUENCIES.map("FREQ={}".format), st.lists(_parts, max_size=5))
    .map(lambda found: ";".join((found[0], *found[1])))
    .flatmap(lambda rule: st.sampled_from((rule, rule.lower(), f"RRULE:{rule}", rule[1:])))
)
_starts = st.integers(-400, 3700) | st.text(max_size=10) | st.none()


@pytest.mark.soak
@settings(max_examples=150)
@given(_rules | st.text(max_size=40), _starts, st.booleans())
def test_a_rule_is_refused_or_has_few_dates(ledger, olga, rule, starts, is_preview):
    expense = ledger.expense_body(10, olga)
    del expense["expenseDate"]
    today = timezone.now().date()
    starts_on = starts if not isinstance(starts, int) else (today + timedelta(starts)).isoformat()
    body = {"rule": rule, "startsOn": starts_on, "expense": expense}
    path = "recurring/preview" if is_preview else "recurring"
    answer = ledger.answer(olga, "post", path, body)
    if answer.status_code == 400:
        assert answer.json()["errors"].keys() & {"rule", "startsOn"}
        return
    made = answer.json()
    assert answer.status_code == (200 if is_preview else 201), (body, answer.content)
    first = date.fromisoformat(made["startsOn"])
    dates = list(islice(dates_of(made["rule"], first), 20_000))
    assert dates == sorted({*dates})
    assert first <= dates[0] <= dates[-1] <= first.replace(day=1, year=first.year + MAX_YEARS + 1)
    assert [day.isoformat() for day in dates[:10]] == made["next"]
    if not is_preview:
        shown = f"recurring/{made['id']}"
        assert ledger.answer(olga, "get", shown).json() == made
        skipped = ledger.answer(olga, "post", f"{shown}/skip", {"date": made["next"][0]})
        assert skipped.json()["next"][:9] == made["next"][1:]
        assert ledger.answer(olga, "delete", shown).status_code == 204
