"""The fields that the client reads in trips and expenses, and the bodies that it sends."""

from typing import Any, ClassVar

from rest_framework import serializers

from plugins.mapmyjourney.dividing import without_stored_people
from splits.models import SplitType
from splits.serializers import expense, expense_response
from tripcompanion.api.serializers import CamelCaseSerializer, IdField, StrictText
from tripcompanion.currency.fields import MoneyField
from trips import serializers as trip


class ParticipantSerializer(CamelCaseSerializer):
    """A member of a trip."""

    id = serializers.IntegerField(source="user.id")
    name = serializers.CharField(source="user.name")
    email = serializers.CharField(source="user.shown_email", allow_null=True)
    avatar = serializers.CharField(source="user.profile_picture", allow_null=True)
    role = serializers.CharField()


class TripSerializer(trip.TripSerializer):
    """A trip in lists, with its title also as `name`."""

    name = serializers.CharField(source="title")


class TripDetailSerializer(trip.TripDetailSerializer):
    """A trip with its members, also as `participants`."""

    name = serializers.CharField(source="title")
    participants = ParticipantSerializer(many=True, source="present_members")


class TripRequest(trip.TripRequest):
    """A trip, with its title as `title` or as `name`; `title` wins."""

    name = StrictText(source="title", max_length=100, required=False)

    def to_internal_value(self, data: Any) -> Any:
        if "title" in data:
            data = {key: value for key, value in data.items() if key != "name"}
        elif data.get("name", "") is None:
            text = self.fields["name"].error_messages["null"]
            raise serializers.ValidationError({"name": [text]})
        return super().to_internal_value(data)


class ExpenseSerializer(expense_response.ExpenseSerializer):
    """An expense with its date, first payer and participants in the client's form."""

    date = serializers.DateField(source="expense_date")
    payer_id = serializers.IntegerField(source="paid_by.id")
    participants: Any = serializers.SlugRelatedField(
        slug_field="participant_id", source="loaded_splits", many=True, read_only=True
    )


class NamedTransfer(CamelCaseSerializer):
    """One payment of the plan, between people by their names."""

    from_ = serializers.CharField(source="sender.shown_name")
    to = serializers.CharField(source="receiver.shown_name")
    from_user_id = serializers.IntegerField(source="sender_id")
    to_user_id = serializers.IntegerField(source="receiver_id")
    amount = MoneyField()


class TripReference(CamelCaseSerializer):
    """The trip that a body names."""

    trip_id = IdField()


class NewExpenseRequest(expense.ExpenseRequest):
    """An expense to record and divide equally, or what to change of one.

    Fields other than these are ignored.
    """

    #: The fields of `ExpenseRequest` under the names that the client gives them.
    FIELDS: ClassVar = {
        "amount": "amount",
        "category": "category",
        "date": "expenseDate",
        "description": "description",
        "participants": "participantUserIds",
        "payerId": "paidByUserId",
    }

    def to_internal_value(self, data: Any) -> Any:
        sent = {field: data[name] for name, field in self.FIELDS.items() if name in data}
        if self.partial:
            sent = without_stored_people(self.context["expense"], sent)
        else:
            sent["splitType"] = SplitType.EQUAL.value
        return super().to_internal_value(sent)
