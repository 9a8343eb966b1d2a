"""The list of categories."""

from types import SimpleNamespace

from django.utils.text import capfirst
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from splits.models import Category
from tripcompanion.api.operations import operation
from tripcompanion.api.reference import ReferenceViewSet
from tripcompanion.api.serializers import CamelCaseSerializer


class CategorySerializer(CamelCaseSerializer):
    """A category of expenses."""

    code = serializers.ChoiceField(
        choices=Category.values, help_text="Its code in requests and responses."
    )
    name = serializers.CharField(help_text="In the language of `Accept-Language`.")


class CategoryViewSet(ReferenceViewSet):
    """The categories of expenses."""

    @operation("listCategories", answers=CategorySerializer)
    def list(self, request: Request) -> Response:
        """The categories that an expense may have.

        Names are in the caller's language. Only a new release changes the list, so clients may keep
        it for a week.
        """
        rows = [
            SimpleNamespace(code=code, name=capfirst(str(label)))
            for code, label in Category.choices
        ]
        return self.reference(request, rows)
