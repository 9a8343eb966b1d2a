"""What a trip has cost, and its balances, on its page in the admin site."""

from base64 import b64encode
from datetime import date
from operator import attrgetter
from typing import IO, Any

from django.contrib import admin
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from plugins.admin_tables import SHOWN_ROWS, Columns, formatted, table
from plugins.statistics.files import balances_chart, chart_of
from plugins.statistics.report import Statistics
from trips.admin import money_column
from trips.models import Trip
from users.models import User

COLUMNS: Columns = {
    gettext_lazy("date"): lambda group: formatted(date.fromisoformat(group.key))
} | {
    label: money_column(name, label, attrgetter("currency"))
    for name, label in {
        "paid_minor": gettext_lazy("spent"),
        "cumulative_minor": gettext_lazy("so far"),
        "planned_minor": gettext_lazy("budget"),
    }.items()
}


def picture(svg: IO[bytes], title: Any) -> str:
    """A chart in the page itself. Its numbers belong in a table beside it."""
    data = b64encode(svg.read()).decode()
    return format_html('<img src="data:image/svg+xml;base64,{}" alt="{}">', data, title)


@admin.display(description=gettext_lazy("balances"))
def balances(trip: Trip) -> str:
    """Who gets money back, and who owes it."""
    rows = trip.members.select_related("user", "trip")
    return picture(balances_chart(rows), _("Balances"))


@admin.display(description=gettext_lazy("spending"))
def spending(trip: Trip) -> str:
    """What was spent by the end of each day, and what was planned."""
    nobody = User(pk=0)  # whose part is not shown
    by_day = Statistics(trip, nobody, None, "day")
    latest = table(by_day.groups[-SHOWN_ROWS:], COLUMNS)
    return format_html("{}{}", picture(chart_of(by_day), _("spending")), latest)
