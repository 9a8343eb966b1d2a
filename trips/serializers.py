"""Shapes of trips and members."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from tripcompanion.kit.currencies import Amount
from tripcompanion.kit.serializers import (
    AmountField,
    CurrencyField,
    IdField,
    MoneyField,
    Shape,
    StrictChoice,
    StrictDate,
    StrictText,
    UrlOrPath,
    example,
)
from trips.models import CODE_CHARS, JOIN_ROLE_CHOICES, ROLE_CHOICES
from trips.roles import TripRole
from users.serializers import SUMMARY_EXAMPLE, EmailAddress, UserSummary

MEMBER_EXAMPLE = {
    "id": 1,
    "tripId": 7,
    "user": SUMMARY_EXAMPLE,
    "role": "OWNER",
    "joinedAt": "2026-05-01T09:31:00Z",
}
_TRIP_FIELDS_EXAMPLE = {
    "title": "Lisbon in May",
    "destination": "Lisbon",
    "description": "Five days of trams and tarts.",
    "imageUrl": "/images/lisbon.webp",
    "startDate": "2026-05-14",
    "endDate": "2026-05-18",
    "budget": 1200.5,
    "currency": "EUR",
    "joinRole": "EDITOR",
}
_TRIP_EXAMPLE = {
    "id": 7,
    **_TRIP_FIELDS_EXAMPLE,
    "tripCode": "K7WQ2MXA",
    "currentUserRole": "OWNER",
    "createdAt": "2026-05-01T09:31:00Z",
    "updatedAt": "2026-05-01T09:31:00Z",
}


@example(_TRIP_FIELDS_EXAMPLE)
class TripRequest(Shape):
    """A trip to make or to replace; PATCH takes any part of it.

    The context carries `currency`, in which a budget without a currency is meant.
    """

    title = StrictText(max_length=100)
    destination = StrictText(max_length=100)
    description = StrictText(max_length=2000, allow_blank=True, default="")
    image_url = UrlOrPath(allow_null=True, default=None)
    start_date = StrictDate()
    end_date = StrictDate()
    budget = AmountField(allow_null=True, default=None)
    currency = CurrencyField(required=False)
    join_role = StrictChoice(choices=JOIN_ROLE_CHOICES, default=TripRole.VIEWER)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("budget") is not None:
            currency = attrs.get("currency", self.context["currency"])
            attrs["budget"] = Amount(attrs["budget"], currency)
        return attrs


@example(MEMBER_EXAMPLE)
class TripMemberSerializer(Shape):
    """TripMemberDTO."""

    id = serializers.IntegerField()
    trip_id = serializers.IntegerField()
    user = UserSummary()
    role = serializers.ChoiceField(choices=ROLE_CHOICES)
    joined_at = serializers.DateTimeField()


@example(_TRIP_EXAMPLE)
class TripSerializer(Shape):
    """A trip as it stands in a list."""

    id = serializers.IntegerField()
    title = serializers.CharField()
    destination = serializers.CharField()
    description = serializers.CharField()
    image_url = serializers.CharField(allow_null=True)
    start_date = serializers.DateField()
    end_date = serializers.DateField()
    budget = MoneyField(allow_null=True)
    currency = serializers.CharField()
    trip_code = serializers.CharField(source="code")
    join_role = serializers.ChoiceField(choices=JOIN_ROLE_CHOICES)
    current_user_role = serializers.ChoiceField(choices=ROLE_CHOICES, source="caller_role")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


@example({**_TRIP_EXAMPLE, "members": [MEMBER_EXAMPLE]})
class TripDetailSerializer(TripSerializer):
    """A trip with its members."""

    members = TripMemberSerializer(many=True, source="present_members")


@example(
    {
        "title": "Lisbon in May",
        "destination": "Lisbon",
        "startDate": "2026-05-14",
        "endDate": "2026-05-18",
        "memberCount": 4,
    }
)
class TripPreview(Shape):
    """What a trip code shows to somebody who may want to join."""

    title = serializers.CharField()
    destination = serializers.CharField()
    start_date = serializers.DateField()
    end_date = serializers.DateField()
    member_count = serializers.IntegerField()


@example({"tripCode": "K7WQ2MXA"})
class JoinRequest(Shape):
    """The code that somebody was given."""

    trip_code = StrictText(max_length=CODE_CHARS)


@example({"email": "ed@example.com", "role": "EDITOR"})
class AddMemberRequest(Shape):
    """AddMemberRequestDTO: who, by `userId` or by `email`, and their role."""

    user_id = IdField(required=False)
    email = EmailAddress(required=False)
    role = StrictChoice(choices=ROLE_CHOICES, default=TripRole.VIEWER)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("user_id" in attrs) == ("email" in attrs):
            raise serializers.ValidationError({"userId": [_("Give either userId or email.")]})
        return attrs


@example({"role": "EDITOR"})
class ChangeMemberRoleRequest(Shape):
    """ChangeMemberRoleRequestDTO."""

    role = StrictChoice(choices=ROLE_CHOICES)
