"""Filters of the ledger's lists for typed values: there are too many trips to choose from."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from splits.models import Payer
from tripcompanion.currency.formats import amount_between, typed_amount


class TypedFilter(admin.SimpleListFilter):
    """Filters rows by what is typed into a field of the sidebar."""

    template = "admin/typed_filter.html"
    input_mode = "text"

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
    title, parameter_name = gettext_lazy("trip"), "of_trip"

    def condition(self, typed: str) -> Q:
        return Q(trip__title__icontains=typed) | Q(trip__code__iexact=typed)


class PayerFilter(TypedFilter):
    title, parameter_name = gettext_lazy("payer"), "payer"

    def condition(self, typed: str) -> Q:
        who = Q(user__email__icontains=typed) | Q(user__name__icontains=typed)
        # By the trip, too, so that Citus joins them where they are.
        return Q(Exists(Payer.objects.filter(who, expense=OuterRef("pk"), trip=OuterRef("trip"))))


class CurrencyFilter(TypedFilter):
    title, parameter_name = gettext_lazy("currency"), "in_currency"

    def condition(self, typed: str) -> Q:
        return Q(currency__iexact=typed)


class AmountFilter(TypedFilter):
    """An amount, or two of them with a hyphen or a space between them."""

    title, parameter_name = gettext_lazy("amount, or from and to"), "amount"

    def condition(self, typed: str) -> Q:
        limits = [typed_amount(word) for word in typed.replace("-", " ").split()]
        least, most = limits[0], limits[-1]
        if least is None or most is None or len(limits) > 2:
            return Q(pk=None)
        return amount_between("amount_minor", "trip__currency", least, most)
