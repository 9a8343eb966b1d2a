"""Fields of forms, checked as the API checks them."""

from typing import Any

from django.core.exceptions import ValidationError
from rest_framework import serializers

from tripcompanion.api.problems import flatten


def as_the_api(field: serializers.Field, value: Any) -> Any:
    """Validate `value` with the API's `field`; raises the form's `ValidationError`."""
    try:
        return field.run_validation(value)
    except serializers.ValidationError as refusal:
        texts = [text for _path, texts in flatten(refusal.detail) for text in texts]
        raise ValidationError(texts) from refusal
