"""Fields of the forms that check the parameters of lists."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from rest_framework import serializers


class ApiFormField(forms.Field):
    """Validates as a field of a body does."""

    field: serializers.Field

    def clean(self, value: Any) -> Any:
        if not value:
            return None
        try:
            return self.field.run_validation(value)
        except serializers.ValidationError as error:
            raise forms.ValidationError([str(text) for text in error.detail]) from error


def one_of(names: Iterable[str]) -> dict[str, Any]:
    """The error message of a form field with these choices."""
    text = gettext_lazy('"%(value)s" is not a valid choice. Choose one of: {choices}.')
    return {"invalid_choice": format_lazy(text, choices=", ".join(names))}
