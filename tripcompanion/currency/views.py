"""The list of currencies."""

from types import SimpleNamespace

from django.conf import settings
from django.utils.translation import get_language
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from tripcompanion.api.operations import operation
from tripcompanion.api.reference import ReferenceViewSet
from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.currency.amounts import EXPONENTS, currency_names
from tripcompanion.currency.fields import CurrencyField


class CurrencySerializer(CamelCaseSerializer):
    """A currency that amounts may be in."""

    code = CurrencyField(help_text="Its code in requests and responses.")
    name = serializers.CharField(help_text="In the language of `Accept-Language`.")
    decimals = serializers.IntegerField(
        help_text="The decimals of its amounts; what has more is rounded half up."
    )


class CurrencyViewSet(ReferenceViewSet):
    """The currencies of ISO 4217."""

    @operation("listCurrencies", answers=CurrencySerializer)
    def list(self, request: Request) -> Response:
        """The currencies that amounts may be in, by code.

        Names are in the caller's language. The list changes with a release only, so it may be
        kept for a week.
        """
        names = currency_names(get_language() or settings.LANGUAGE_CODE)
        rows = [
            SimpleNamespace(code=code, name=name, decimals=EXPONENTS[code])
            for code, name in names.items()
        ]
        return self.reference(request, rows)
