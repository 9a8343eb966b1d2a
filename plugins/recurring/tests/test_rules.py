"""The dates of a rule are those of dateutil, and searching them ends, also at random."""

from datetime import date, datetime, timedelta
from itertools import islice
from time import monotonic

import pytest
from dateutil.rrule import rrulestr
from django.utils import timezone, translation
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.recurring.rules import MAX_YEARS, dates_of, parse_rule

pytestmark = pytest.mark.either

_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_lists = {
    "INTERVAL": st.integers(1, 40).map(str),
    "BYMONTH": st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True),
    "BYMONTHDAY": st.lists(st.integers(-31, 31).filter(bool), min_size=1, max_size=3, unique=True),
    "BYDAY": st.lists(st.sampled_from(_DAYS), min_size=1, max_size=3, unique=True),
    "COUNT": st.integers(1, 30).map(str),
}


@st.composite
def rules(draw):
    frequency = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = [f"FREQ={frequency}"]
    for name, values in _lists.items():
        if (frequency, name) != ("WEEKLY", "BYMONTHDAY") and draw(st.booleans()):
            value = draw(values)
            parts.append(f"{name}={value if isinstance(value, str) else ','.join(map(str, value))}")
    return ";".join(parts)


@settings(max_examples=200)
@given(rules(), st.dates(date(2020, 1, 1), date(2030, 12, 31)))
def test_the_dates_are_those_of_dateutil(rule, starts_on):
    start = datetime(starts_on.year, starts_on.month, starts_on.day)  # noqa: DTZ001 -- rules have dates
    horizon = date(starts_on.year + 10, 1, 1)
    until = "" if "COUNT" in rule else f";UNTIL={horizon:%Y%m%d}"
    bounded = (moment.date() for moment in rrulestr(rule + until, dtstart=start))
    wanted = [day for day in islice(bounded, 10) if day < horizon]
    found = [day for day in islice(dates_of(parse_rule(rule), starts_on), 10) if day < horizon]
    assert found == wanted


def test_from_the_31st_a_shorter_month_is_left_out_and_minus_one_is_its_last_day():
    start = date(2026, 1, 31)
    assert [day.month for day in islice(dates_of("FREQ=MONTHLY", start), 4)] == [1, 3, 5, 7]
    last = list(islice(dates_of("FREQ=MONTHLY;BYMONTHDAY=-1", start), 4))
    assert [day.day for day in last] == [31, 28, 31, 30]


@pytest.mark.parametrize("frequency", ["DAILY", "MONTHLY", "YEARLY"])
def test_a_rule_without_dates_is_found_out_soon(frequency):
    started = monotonic()
    rule = parse_rule(f"freq={frequency};BYMONTH=2;BYMONTHDAY=30;COUNT=9999")
    assert next(dates_of(rule, date(2026, 1, 1)), None) is None
    assert monotonic() - started < 2


@pytest.mark.parametrize("day", ["MONTHLY;BYDAY=5MO", "MONTHLY;BYDAY=-5SU", "YEARLY;BYDAY=53MO"])
def test_a_numbered_weekday_is_found_also_if_it_is_rare(day):
    assert next(dates_of(parse_rule(f"FREQ={day}"), date(2026, 1, 1))) > date(2026, 1, 1)


@pytest.mark.parametrize("frequency", ["DAILY", "WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"])
@pytest.mark.parametrize(
    ("until", "zone", "last"),
    [
        ("20260201T045959Z", "America/New_York", date(2026, 1, 31)),
        ("20260201T050000Z", "America/New_York", date(2026, 2, 1)),
        ("20260131T145959Z", "Asia/Tokyo", date(2026, 1, 31)),
        ("20260131T150000Z", "Asia/Tokyo", date(2026, 2, 1)),
        ("20260131T235959", "Asia/Tokyo", date(2026, 1, 31)),
        ("20260131", "Pacific/Kiritimati", date(2026, 1, 31)),
        ("99991231T235959Z", "Asia/Tokyo", date(2056, 1, 28)),
        ("00010101T000000Z", "America/New_York", None),
    ],
)
def test_an_end_in_utc_is_a_day_in_the_zone(frequency, until, zone, last):
    rule = parse_rule(f"FREQ={frequency};UNTIL={until}")
    assert [None, *dates_of(rule, date(2026, 1, 30), zone)][-1] == last


@pytest.mark.parametrize(("position", "day"), [(366, 31), (-366, 1), (365, 30)])
def test_the_last_day_of_a_leap_year_has_a_position(position, day):
    days = ",".join(map(str, range(1, 32)))
    rule = parse_rule(f"FREQ=YEARLY;BYMONTHDAY={days};BYSETPOS={position}")
    assert next(dates_of(rule, date(2028, 1, 1))).day == day


@pytest.mark.parametrize("day", ["6MO", "-53FR", "54MO"])
@pytest.mark.parametrize("months", ["MONTHLY", "MONTHLY;BYMONTH=12", "YEARLY;BYMONTH=12"])
def test_a_weekday_that_no_month_has_is_refused(months, day):
    # A test before this one may have left the thread speaking Spanish.
    with translation.override("en"), pytest.raises(ValueError, match=r"five|BYDAY"):
        parse_rule(f"FREQ={months};BYDAY={day}")


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
