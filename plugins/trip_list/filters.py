"""The parameters of the list of trips."""

from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from plugins.trip_list.models import is_archived_by
from plugins.words import Folded, HasWords
from tripcompanion.api.serializers import QueryBoolean, StrictChoice, StrictText
from tripcompanion.plugin import TripFilter

#: What trips can be ordered by.
_ORDERS: dict[str, Any] = {
    "startDate": F("start_date"),
    "createdAt": F("created_at"),
    "title": Folded("title"),
}
_STATES = ("upcoming", "current", "past")


def _by_archive(rows: Any, user: Any, is_archived: bool | None) -> Any:
    """Without a value, what the reader has archived is left out, too."""
    archived = is_archived_by(user)
    return rows.filter(archived if is_archived else ~archived)


def _by_status(rows: Any, user: Any, status: str | None) -> Any:
    today = timezone.now().date()
    conditions = {
        "upcoming": Q(start_date__gt=today),
        "current": Q(start_date__lte=today, end_date__gte=today),
        "past": Q(end_date__lt=today),
    }
    return rows.filter(conditions[status]) if status else rows


def _by_words(rows: Any, user: Any, text: str | None) -> Any:
    columns = ("title", "destination", "description")
    return rows.filter(HasWords(text.split(), *columns)) if text else rows


def _ordered(rows: Any, user: Any, ordering: str | None) -> Any:
    """Trips that are equal are in the order of their ids, so that pages are stable."""
    if not ordering:
        return rows
    column = _ORDERS[ordering.removeprefix("-")]
    if ordering.startswith("-"):
        return rows.order_by(column.desc(), "-id")
    return rows.order_by(column.asc(), "id")


#: See `Plugin.trip_filters`.
FILTERS = {
    "search": TripFilter(
        StrictText(
            required=False,
            allow_blank=True,
            max_length=255,
            help_text=(
                "Only trips with each of these words in title, destination or description, "
                "without regard to case and accents; also with parts of words."
            ),
        ),
        _by_words,
    ),
    "status": TripFilter(
        StrictChoice(
            choices=[(state, state) for state in _STATES],
            required=False,
            help_text=(
                "Only trips that start after today, that today is a day of, or that ended before "
                "today, by the calendar of UTC."
            ),
        ),
        _by_status,
    ),
    "archived": TripFilter(
        QueryBoolean(
            required=False,
            help_text="With `true`, only what the caller has archived; otherwise only the others.",
        ),
        _by_archive,
    ),
    "ordering": TripFilter(
        StrictChoice(
            choices=[(name, name) for order in _ORDERS for name in (order, f"-{order}")],
            required=False,
            help_text="How to order them, with `-` to reverse. Default: `-startDate`.",
        ),
        _ordered,
    ),
}
