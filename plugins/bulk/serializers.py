"""Serializers of many expenses."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from splits.serializers.expense import ExpenseRequest, NewExpense
from splits.serializers.expense_response import ExpenseSerializer
from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictList

MAX_ROWS = 100


@extend_schema_field(NewExpense(many=True))
class _NewRows(StrictList):
    pass


class BulkChangeRequest(ExpenseRequest):
    """What to change of an expense; fields that are not sent stay as they are."""

    id = IdField(help_text="The expense to change.")


@extend_schema_field(BulkChangeRequest(many=True, partial=True))
class _ChangedRows(StrictList):
    pass


class BulkRequest(CamelCaseSerializer):
    """Expenses to create, change and delete, at most 100 in all."""

    create: Any = _NewRows(
        child=serializers.DictField(),
        required=False,
        max_length=MAX_ROWS,
        help_text="As `createExpense` takes.",
    )
    change = _ChangedRows(
        child=serializers.DictField(),
        required=False,
        max_length=MAX_ROWS,
        help_text="The `id` of each, with what `updateExpense` takes.",
    )
    delete = StrictList(
        child=IdField(), required=False, max_length=MAX_ROWS, help_text="The ids of expenses."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        rows: dict[str, Any] = {
            name: attrs.get(name, []) for name in ("create", "change", "delete")
        }
        if sum(map(len, rows.values())) > MAX_ROWS:
            text = _("At most %(max)s expenses at once.") % {"max": MAX_ROWS}
            raise serializers.ValidationError({name: [text] for name in rows if rows[name]})
        return rows


class BulkSerializer(CamelCaseSerializer):
    """What became of many expenses, in the order of the request."""

    create: Any = ExpenseSerializer(many=True, help_text="The new expenses.")
    change = ExpenseSerializer(many=True, help_text="The changed expenses.")
    delete = serializers.ListField(
        child=serializers.IntegerField(), help_text="The ids of the deleted expenses."
    )
