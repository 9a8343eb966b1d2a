"""The tag `{% dashboard %}`, which shows the figures of `accounts/dashboard.py`."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from splits.models import AuditRun
from tripcompanion.accounts import dashboard as figures
from tripcompanion.adminsite.base import page_url
from tripcompanion.currency.formats import format_amount
from trips.models import Trip
from users.models import Mail, User

register = template.Library()


@register.inclusion_tag("admin/dashboard.html")
def dashboard() -> dict[str, Any]:
    """All texts are made here, in the reader's language."""
    return {
        "figures": [*_accounts_and_trips(), *_mails(), _audit()],
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
        {
            "number": _count(counts[name]),
            "label": span,
            "url": page_url(model, "changelist", **queries[name]),
        }
        for name, span in spans.items()
    ]
    return {"label": label, "parts": parts}


def _mails() -> list[dict[str, Any]]:
    counts = figures.unsent_mails()
    labels = {"given_up": _("given up"), "waiting": _("waiting")}
    values = [
        {
            "number": _count(counts[state]),
            "label": label,
            "url": page_url(Mail, "changelist", state=state),
            "is_bad": state == "given_up" and counts[state] > 0,
        }
        for state, label in labels.items()
    ]
    return [{"label": _("Mails that were not sent"), "parts": values}]


def _audit() -> dict[str, Any]:
    label, run = _("Last audit of the ledger"), figures.last_audit()
    if run is None:
        return {"label": label, "text": _("never; run manage.py audit_ledger")}
    difference = {"count": _count(run.difference_count)}
    value = {
        "number": date_format(timezone.localtime(run.finished_at), "SHORT_DATETIME_FORMAT"),
        "label": _("differences: %(count)s") % difference,
        "url": page_url(AuditRun, "change", run.pk),
        "is_bad": run.difference_count > 0,
    }
    return {"label": label, "parts": [value]}


def _chart() -> dict[str, Any]:
    chart = figures.recorded_by_month()
    months = [date_format(month, "M Y") for month in chart.months]
    others = _("Currencies that are not shown: %(count)s.") % {"count": chart.hidden_currencies}
    return {
        "charts": [
            {"currency": currency, "bars": _bars(currency, months, sums_minor)}
            for currency, sums_minor in chart.currencies
        ],
        "others": others if chart.hidden_currencies else "",
    }


def _bars(currency: str, months: list[str], sums_minor: list[int]) -> list[dict[str, Any]]:
    """The bars of one currency. Their `width` is a whole percentage of the longest."""
    longest = max(sums_minor)
    return [
        {
            "month": month,
            "amount": format_amount(sum_minor, currency),
            # Even the smallest amount must be visible.
            "width": max(1, sum_minor * 100 // longest) if sum_minor else 0,
        }
        for month, sum_minor in zip(months, sums_minor, strict=True)
    ]


def _count(number: int) -> str:
    return number_format(number, use_l10n=True, force_grouping=True)
