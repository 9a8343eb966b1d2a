"""The figures on the first page of the admin site: what an operator asks first.

What was recorded counts until `prune` deletes it, also in a deleted trip.

Every query stays fast whatever has been recorded, for one of three reasons:

- It reads an index, bounded by time: new accounts (`account_by_creation`), trips with new expenses
  (`trip_by_last_expense`), and the sums of `MONTHS` months (`expense_sums_by_day`, which contains
  all that is summed, so that no row is read).
- It reads little because little is kept: the outbox contains mails that were not sent yet, and
  `manage.py prune` deletes those that were given up.
- It reads what was computed before: the audit itself takes minutes, but its result is one row; and
  the sums of finished months, which hardly change, are remembered for an hour.

With a million expenses in a year, the sums take up to 0.5 s on PostgreSQL once an hour, and 0.05 s
otherwise; SQLite, which has to sort for them, takes up to 2 s and 0.2 s.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

from django.core.cache import cache
from django.db.models import Count, F, Q, QuerySet, Sum, Value
from django.utils import timezone

from splits.models import Expense
from tripcompanion.api.caching import redis_error
from trips.models import Trip
from users.models import User

WEEK, MONTH = timedelta(days=7), timedelta(days=30)
#: How many months the chart shows, and how many currencies: those with the most expenses.
MONTHS = 12
MAX_CURRENCIES = 8
#: SQLite cannot sum beyond 64 bits, so quotients and remainders are summed separately.
_BILLION = 10**9
_REMEMBERED_SECONDS = 3600


def new_accounts() -> Mapping[str, int]:
    """How many accounts were created in the last week and in the last 30 days."""
    return _recent(User.objects.filter(is_guest=False), "created_at__gte", timezone.now())


def active_trips() -> Mapping[str, int]:
    """In how many trips an expense was recorded in the last week and in the last 30 days."""
    return _recent(Trip.objects.all(), "counted_on__gte", timezone.now().date())


def _recent(rows: QuerySet, since: str, now: Any) -> Mapping[str, int]:
    recent = rows.filter(Q((since, now - MONTH)))
    return recent.aggregate(week=Count("pk", filter=Q((since, now - WEEK))), month=Count("pk"))


def recorded_by_month() -> tuple[list[date], dict[str, list[int]], int]:
    """Expenses as they were entered, by the month (UTC) in which they were recorded.

    The first days of `MONTHS` months, the oldest first, the sums of these months in minor units, by
    currency, and how many other currencies there are.
    """
    starts = _month_starts(timezone.now())
    finished = _remembered(starts)
    counts: Counter[str] = Counter()
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0] * MONTHS)
    for currency, at, count, billions, rest in [*finished, *_sums(MONTHS - 1, starts[-1], None)]:
        counts[currency] += count
        sums[currency][at] = int(billions) * _BILLION + int(rest)
    shown = {currency: sums[currency] for currency, _n in counts.most_common(MAX_CURRENCIES)}
    return [start.date() for start in starts], shown, len(counts) - len(shown)


def _remembered(starts: list[datetime]) -> Any:
    """The sums of all months but the current one, computed every time without the cache."""
    key, compute = f"recorded-before-{starts[-1].date()}", partial(_finished, starts)
    try:
        return cache.get_or_set(key, compute, _REMEMBERED_SECONDS)
    except redis_error():
        return compute()


def _finished(starts: list[datetime]) -> list[Any]:
    """The sums of all months but the current one, in one statement.

    It has a range for each month, because otherwise SQLite would call Python to find a row's month.
    """
    bounds = pairwise(starts)
    first, *others = [_sums(at, start, end) for at, (start, end) in enumerate(bounds)]
    return list(first.union(*others, all=True))


def _sums(at: int, start: datetime, end: datetime | None) -> Any:
    rows = Expense.objects.filter(created_at__gte=start)
    if end is not None:
        rows = rows.filter(created_at__lt=end)
    return (
        rows.order_by()
        .values("currency")
        .annotate(
            at=Value(at),
            count=Count("currency"),
            billions=Sum(F("entered_minor") / _BILLION),
            rest=Sum(F("entered_minor") % _BILLION),
        )
        .values_list("currency", "at", "count", "billions", "rest")
    )


def _month_starts(now: datetime) -> list[datetime]:
    """The first instants of the current month and of the months before it, the oldest first."""
    latest = now.year * 12 + now.month - 1
    return [
        datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        for number in range(latest - MONTHS + 1, latest + 1)
    ]
