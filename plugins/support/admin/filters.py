"""Filters of the ledger's lists for typed values: there are too many trips to choose from."""

import re
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.formats import get_format
from django.utils.translation import gettext_lazy

from plugins.expense_filters.conditions import amount_between, is_open
from plugins.words import HasWords, Lines
from splits.models import Payer, Split
from tripcompanion.currency.amounts import MAX_AMOUNT


def typed_amount(text: str) -> Decimal | None:
    """The amount in major units that somebody typed in their format; None if it is invalid."""
    try:
        plain = text.replace(get_format("THOUSAND_SEPARATOR"), "").replace("\N{NO-BREAK SPACE}", "")
        amount = Decimal(plain.replace(get_format("DECIMAL_SEPARATOR"), "."))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < MAX_AMOUNT else None


class TypedFilter(admin.SimpleListFilter):
    """Filters rows by what is typed into a field of the sidebar."""

    template = "admin/typed_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return []

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: Any) -> Any:
        """The other parameters of the list, for the form; Django's template gets links here."""
        return [item for item in changelist.params.items() if item[0] != self.parameter_name]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        typed = (self.value() or "").strip()
        return queryset.filter(self.condition(typed)) if typed else queryset

    def condition(self, typed: str) -> Q:
        raise NotImplementedError


class TripFilter(TypedFilter):
    """A title, a code, or the number of a trip, as in #12."""

    title, parameter_name = gettext_lazy("trip"), "of_trip"

    def condition(self, typed: str) -> Q:
        if number := re.fullmatch(r"#([0-9]{1,18})", typed, re.ASCII):
            return Q(trip=int(number[1]))
        return Q(trip__title__icontains=typed) | Q(trip__code__iexact=typed)


class PayerFilter(TypedFilter):
    title, parameter_name = gettext_lazy("payer"), "payer"
    #: The rows of an expense that name a person, and the column that does.
    rows: ClassVar[Any] = Payer.objects
    person = "user"

    def condition(self, typed: str) -> Q:
        who = Q((f"{self.person}__email__icontains", typed)) | Q(
            (f"{self.person}__name__icontains", typed)
        )
        # By the trip, too, so that Citus joins them where they are.
        return Q(Exists(self.rows.filter(who, expense=OuterRef("pk"), trip=OuterRef("trip"))))


class ParticipantFilter(PayerFilter):
    title, parameter_name = gettext_lazy("participant"), "participant"
    rows, person = Split.objects, "participant"


class TagFilter(TypedFilter):
    """A tag, or a part of one."""

    title, parameter_name = gettext_lazy("tag"), "tag"

    def condition(self, typed: str) -> Q:
        return Q(HasWords([typed], Lines("tags")))


class PaidFilter(admin.SimpleListFilter):
    """Whether all splits of an expense are paid."""

    title, parameter_name = gettext_lazy("paid"), "paid"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("true", gettext_lazy("Yes")), ("false", gettext_lazy("No"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        condition = {"true": ~is_open(), "false": is_open()}.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


class CurrencyFilter(TypedFilter):
    title, parameter_name = gettext_lazy("currency"), "in_currency"

    def condition(self, typed: str) -> Q:
        return Q(currency__iexact=typed)


class AmountFilter(TypedFilter):
    """An amount, or two of them with a hyphen or a space between them."""

    title, parameter_name = gettext_lazy("amount, or from and to"), "amount"

    def condition(self, typed: str) -> Q:
        limits = [typed_amount(word) for word in typed.replace("-", " ").split()]
        known = [limit for limit in limits if limit is not None]
        if len(known) < len(limits) or not 1 <= len(known) <= 2:
            return Q(pk=None)
        return amount_between("amount_minor", "trip__currency", known[0], known[-1])
