"""Rules of recurrence: those of RFC 5545 that have at most one date a day."""

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from django.utils.translation import gettext as _

MAX_RULE_CHARS = 300
#: How far from the start dates are searched: a rule such as the 30th of February has none.
MAX_YEARS = 30
#: How late dates are recorded when a recurrence begins, or comes from a file.
MAX_OVERDUE = timedelta(days=366)

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WEEKDAY = f"({'|'.join(_WEEKDAYS)})"
_NUMBER = "[1-9][0-9]{0,2}"
_POSITION = "[+-]?(36[0-6]|3[0-5][0-9]|[12][0-9][0-9]|[1-9][0-9]?)"
_NUMBERED = "([+-]?(5[0-3]|[1-4][0-9]|[1-9]))?"
#: What each part may be. A number or a weekday is in a list with commas.
_PARTS = {
    "FREQ": "DAILY|WEEKLY|MONTHLY|YEARLY",
    "INTERVAL": _NUMBER,
    "COUNT": "[1-9][0-9]{0,3}",
    "UNTIL": "[0-9]{8}(T[0-9]{6}Z?)?",
    "WKST": _WEEKDAY,
    "BYDAY": rf"{_NUMBERED}{_WEEKDAY}(,{_NUMBERED}{_WEEKDAY})*",
    "BYMONTH": "(1[0-2]|[1-9])(,(1[0-2]|[1-9]))*",
    "BYMONTHDAY": "[+-]?(3[01]|[12][0-9]|[1-9])(,[+-]?(3[01]|[12][0-9]|[1-9]))*",
    "BYSETPOS": f"{_POSITION}(,{_POSITION})*",
}


def parse_rule(text: str) -> str:
    """The rule as it is stored. Raises ValueError with a text for the user."""
    rule = text.upper().removeprefix("RRULE:")
    parts = [part.partition("=")[::2] for part in rule.split(";")]
    for name, value in parts:
        if name not in _PARTS:
            known = ", ".join(_PARTS)
            raise ValueError(_("A rule consists of %(known)s.") % {"known": known})
        if not re.fullmatch(_PARTS[name], value, re.ASCII):
            raise ValueError(_("%(name)s cannot be that.") % {"name": name})
    given = dict(parts)
    if len(given) < len(parts) or "FREQ" not in given or given.keys() >= {"COUNT", "UNTIL"}:
        raise ValueError(_("A rule needs FREQ, and has each part once, and COUNT or UNTIL."))
    in_months = given["FREQ"] in {"MONTHLY", "YEARLY"}
    if "BYSETPOS" in given and not (in_months and given.keys() & {"BYDAY", "BYMONTHDAY"}):
        raise ValueError(_("BYSETPOS needs FREQ=MONTHLY or YEARLY, and BYDAY or BYMONTHDAY."))
    _require_weekdays(given.get("BYDAY", ""), given)
    if given["FREQ"] == "WEEKLY" and "BYMONTHDAY" in given:
        raise ValueError(_("Days of the month cannot be combined with FREQ=WEEKLY."))
    try:
        _last_date(given, date(2000, 1, 1), "UTC")
    except ValueError as error:
        raise ValueError(_("%(name)s cannot be that.") % {"name": "UNTIL"}) from error
    return rule


def _require_weekdays(weekdays: str, given: dict[str, str]) -> None:
    """Raise ValueError for weekdays that a rule with the other parts cannot have."""
    if given["FREQ"] not in {"MONTHLY", "YEARLY"} and re.search("[0-9]", weekdays):
        raise ValueError(_("Numbered weekdays need FREQ=MONTHLY or YEARLY."))
    # dateutil has the dates that are both, the RFC those that are either.
    if len({day[:1].isalpha() for day in weekdays.split(",")}) > 1:
        raise ValueError(_("Weekdays with and without numbers cannot be combined."))
    # With BYMONTH, weekdays of a year are numbered in each month. dateutil fails with higher ones.
    of_month = given["FREQ"] == "MONTHLY" or "BYMONTH" in given
    if of_month and re.search("[1-5][0-9]|[6-9]", weekdays):
        raise ValueError(_("A month has at most five of a weekday."))


def dates_of(rule: str, starts_on: date, time_zone: str = "UTC") -> Iterator[date]:
    """The dates of a parsed rule in ascending order, the first one on `starts_on` or later.

    An `UNTIL` in UTC ends it on the day that it is in this zone.
    As the RFC has it, `FREQ=MONTHLY` from the 31st leaves out the shorter months; the last day of
    every month is `FREQ=MONTHLY;BYMONTHDAY=-1`.
    """
    parts = dict(part.split("=") for part in rule.split(";"))
    last = _last_date(parts, starts_on, time_zone)
    count = int(parts.pop("COUNT", 10**6))
    if parts["FREQ"] == "DAILY":
        return islice(_daily(parts, starts_on, last), count)
    parts["UNTIL"] = f"{_later(last):%Y%m%d}"
    text = ";".join(f"{name}={value}" for name, value in parts.items())
    moments = rrulestr(text, dtstart=datetime.combine(_later(starts_on), time()))
    return (_later(moment.date(), -1) for moment in islice(iter(moments), count))


def _daily(parts: dict[str, str], starts_on: date, last: date) -> Iterator[date]:
    """Each day that no part excludes. For 2,900,000 days, dateutil would need half a minute."""
    months, days, weekdays = (
        parts[name].split(",") if name in parts else []
        for name in ("BYMONTH", "BYMONTHDAY", "BYDAY")
    )
    wanted = {int(number) for number in days}
    for number in range(0, (last - starts_on).days + 1, int(parts.get("INTERVAL", 1))):
        day = starts_on + timedelta(days=number)
        from_end = day.day - monthrange(day.year, day.month)[1] - 1
        if months and str(day.month) not in months:
            continue
        if wanted and wanted.isdisjoint({day.day, from_end}):
            continue
        if not weekdays or _WEEKDAYS[day.weekday()] in weekdays:
            yield day


def _later(day: date, direction: int = 1) -> date:
    """The same day near the end of the calendar, where dateutil gives up soon without a date.

    It searches until the year 9999, whatever `UNTIL` says. The calendar repeats after 400 years.
    """
    return day.replace(year=day.year + direction * 19 * 400)


def _last_date(parts: dict[str, str], starts_on: date, time_zone: str) -> date:
    """The day after which no date is searched. Raises ValueError if `UNTIL` is no date."""
    limit = starts_on.replace(year=starts_on.year + MAX_YEARS, day=min(starts_on.day, 28))
    if "UNTIL" not in parts:
        return limit
    until = datetime.fromisoformat(parts["UNTIL"])
    if until.tzinfo is not None:
        # At the ends of the calendar, there may be no such day in the zone.
        with suppress(OverflowError):
            until = until.astimezone(ZoneInfo(time_zone))
    return min(limit, until.date())
