"""The query parameter of lists of what was deleted."""

from typing import Any

from tripcompanion.kit.serializers import CamelCaseSerializer, StrictChoice


class DeletedQuery(CamelCaseSerializer):
    """Whether to list what was deleted."""

    deleted = StrictChoice(
        choices=["true", "false"],
        default="false",
        help_text=(
            "With `true`, what was deleted and can be restored, as it was, last deleted first. "
            "Other filters do not apply to it. Default: `false`."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {"deleted": attrs["deleted"] == "true"}
