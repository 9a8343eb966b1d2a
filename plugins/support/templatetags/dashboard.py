"""The tag `{% dashboard %}`, which shows the figures of `plugins.support.figures`."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from plugins.admin_tables import formatted
from plugins.support import figures
from splits.models import AuditRun
from tripcompanion.adminsite.base import page_url
from tripcompanion.currency.formats import format_amount
from trips.models import Trip
from users.models import Mail, User

register = template.Library()


@register.inclusion_tag("admin/dashboard.html")
def dashboard() -> dict[str, Any]:
    """All texts are made here, in the reader's language.

    The parts of a figure are tuples: number, label, URL, and whether it is bad.
    """
    return {
        "figures": [*_accounts_and_trips(), _mails(), _audit()],
        "heading": _("Money recorded in the last %(count)s months") % {"count": figures.MONTHS},
        "note": _("Expenses as they were entered, by the month in which they were recorded."),
        "nothing": _("No expense was recorded."),
        "month_heading": _("month"),
        "amount_heading": _("amount"),
        **_chart(),
    }


def _accounts_and_trips() -> list[dict[str, Any]]:
    now = timezone.now()
    ages = {"week": now - figures.WEEK, "month": now - figures.MONTH}
    accounts = {name: {"created_at__gte": age.isoformat()} for name, age in ages.items()}
    trips = {name: {"counted_on__gte": age.date()} for name, age in ages.items()}
    return [
        _recent(_("New accounts"), User, figures.new_accounts(), accounts),
        _recent(_("Trips with new expenses"), Trip, figures.active_trips(), trips),
    ]


def _recent(
    label: str, model: Any, counts: Mapping[str, int], queries: Mapping[str, Any]
) -> dict[str, Any]:
    """Two counts of rows, each with a link to the list that `queries` narrows to them."""
    spans = {"week": _("last 7 days"), "month": _("last 30 days")}
    parts = [
        (_count(counts[name]), span, page_url(model, "changelist", **queries[name]), False)
        for name, span in spans.items()
    ]
    return {"label": label, "parts": parts}


def _mails() -> dict[str, Any]:
    labels = {"given_up": _("given up"), "waiting": _("waiting")}
    parts = []
    for state, count in Mail.objects.unsent().items():
        url, is_bad = page_url(Mail, "changelist", state=state), state == "given_up" and count > 0
        parts.append((_count(count), labels[state], url, is_bad))
    return {"label": _("Mails that were not sent"), "parts": parts}


def _audit() -> dict[str, Any]:
    label, run = _("Last audit of the ledger"), AuditRun.objects.last()
    if run is None:
        return {"label": label, "text": _("never; run manage.py audit_ledger")}
    found = _("differences: %(count)s") % {"count": _count(run.difference_count)}
    url, is_bad = page_url(AuditRun, "change", run.pk), run.difference_count > 0
    return {"label": label, "parts": [(formatted(run.finished_at), found, url, is_bad)]}


def _chart() -> dict[str, Any]:
    months, sums, hidden = figures.recorded_by_month()
    others = _("Currencies that are not shown: %(count)s.") % {"count": hidden}
    return {
        "charts": {currency: _bars(currency, months, row) for currency, row in sums.items()},
        "others": others if hidden else "",
    }


def _bars(currency: str, months: list[date], sums_minor: list[int]) -> Iterator[tuple[Any, ...]]:
    """Month, width and amount of each bar. The width is a whole percentage of the longest."""
    longest = max(sums_minor)
    for month, sum_minor in zip(months, sums_minor, strict=True):
        # Even the smallest amount must be visible.
        width = max(1, sum_minor * 100 // longest) if sum_minor else 0
        yield date_format(month, "M Y"), width, format_amount(sum_minor, currency)


def _count(number: int) -> str:
    return number_format(number, use_l10n=True, force_grouping=True)
