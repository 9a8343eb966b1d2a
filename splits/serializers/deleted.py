"""The query parameter of lists of what was deleted."""

from typing import Any

from rest_framework import serializers

from tripcompanion.kit.serializers import CamelCaseSerializer


class _TrueOrFalse(serializers.BooleanField):
    """`true` or `false` in a query."""

    def to_internal_value(self, data: Any) -> bool:
        if data not in {"true", "false"}:
            self.fail("invalid")
        return data == "true"


class DeletedQuery(CamelCaseSerializer):
    """Whether to list what was deleted."""

    deleted = _TrueOrFalse(
        default=False,
        help_text=(
            "With `true`, what was deleted and can be restored, as it was, last deleted first. "
            "Other filters do not apply to it. Default: `false`."
        ),
    )
