"""Serializers of trips and members."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from tripcompanion.api.serializers import (
    MAX_PEOPLE,
    CamelCaseSerializer,
    CreatedQuery,
    ExactNumber,
    IdField,
    NewClientId,
    NumbersById,
    ShownClientId,
    StrictChoice,
    StrictDate,
    StrictList,
    StrictText,
    UrlOrPath,
    camel_case,
    number_schema,
    numbers_of,
    numbers_schema,
)
from tripcompanion.currency.amounts import MAX_AMOUNT, Amount
from tripcompanion.currency.fields import AmountField, CurrencyField, MoneyField
from tripcompanion.plugin import plugins
from trips.models import trip_filters
from trips.models.category import Category, load_budgets
from trips.models.default_division import (
    DEFAULT_SPLIT_TYPES,
    MAX_DECIMALS,
    MAX_WEIGHT,
    checked_division,
    division_text,
    load_division,
)
from trips.roles import DEFAULT_ROLE, JOIN_ROLE_CHOICES, TripRole
from users.serializers.account import EmailAddress, UserSummary, user_name


@extend_schema_field(numbers_schema(maximum=MAX_WEIGHT), component_name="DivisionAmounts")
class DivisionAmountsField(NumbersById):
    """`{"<userId>": number}`: percentages or weights."""

    def to_internal_value(self, data: Any) -> dict[str, Decimal]:
        field = ExactNumber(maximum=Decimal(MAX_WEIGHT), max_decimals=MAX_DECIMALS)
        numbers = numbers_of(super().to_internal_value(data), field)
        return {str(user_id): number.normalize() for user_id, number in numbers.items()}


@extend_schema_field(
    {
        "type": "object",
        "propertyNames": {"type": "string", "enum": Category.values},
        "additionalProperties": number_schema(maximum=int(MAX_AMOUNT)),
        "minProperties": 1,
    },
    component_name="CategoryBudgets",
)
class CategoryBudgets(serializers.DictField):
    """`{"<category>": amount}`, in the trip's currency."""

    child = AmountField()
    default_error_messages = {"category": gettext_lazy("Not a category: {text}.")}

    def to_internal_value(self, data: Any) -> dict[str, Decimal]:
        for unknown in {*data} - {*Category.values} if isinstance(data, Mapping) else ():
            self.fail("category", text=unknown[:40])
        return super().to_internal_value(data)

    def to_representation(self, value: Any) -> Any:
        return load_budgets(value)


class DefaultDivision(CamelCaseSerializer):
    """How an expense is divided that names neither `splitType` nor `participantUserIds`."""

    split_type = StrictChoice(choices=DEFAULT_SPLIT_TYPES, help_text="How it is divided.")
    participant_user_ids = StrictList(
        child=IdField(),
        required=False,
        allow_null=True,
        allow_empty=False,
        max_length=MAX_PEOPLE,
        help_text=(
            "Between whom: members, each listed once. For `EQUAL`, null or omitted: everybody who "
            "is in the trip then. Whoever has left is left out, but percentages must be sent then."
        ),
    )
    split_amounts = DivisionAmountsField(
        required=False,
        allow_null=True,
        help_text=(
            "By user id, one for each participant: weights, or percentages, which add up to 100. "
            "Null for `EQUAL`."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # A PATCH may omit fields of the trip, but not of its division.
        if "split_type" not in attrs:
            text = self.fields["splitType"].error_messages["required"]
            raise serializers.ValidationError({"splitType": [text]})
        user_ids, amounts = attrs.get("participant_user_ids"), attrs.get("split_amounts")
        return checked_division(attrs["split_type"], user_ids, amounts)

    def to_representation(self, instance: str) -> Any:
        return load_division(instance)


class TripRequest(CamelCaseSerializer):
    """What to replace a trip with; see `NewTrip`.

    The context has `currency`, the currency of a budget that is sent without one.
    """

    title = StrictText(max_length=100, help_text="At most 100 characters.")
    destination = StrictText(
        max_length=100, help_text="Where the trip goes, at most 100 characters."
    )
    description = StrictText(
        max_length=2000,
        allow_blank=True,
        default="",
        help_text="At most 2,000 characters. Default: empty.",
    )
    image_url = UrlOrPath(
        allow_null=True,
        default=None,
        help_text="An http(s) URL, or a path on the front end. Default: null.",
    )
    start_date = StrictDate(help_text="The first day.")
    end_date = StrictDate(help_text="The last day, not before `startDate`.")
    budget = AmountField(
        allow_null=True,
        default=None,
        help_text="A positive amount in the trip's currency. Default: null, no budget.",
    )
    currency = CurrencyField(
        required=False,
        help_text=(
            "The currency of balances and budget; fixed after the first expense. Default: "
            "the creator's; PUT keeps it."
        ),
    )
    join_role = StrictChoice(
        choices=JOIN_ROLE_CHOICES,
        default=DEFAULT_ROLE,
        help_text="The role of those who join with the code. Default: `VIEWER`.",
    )

    default_division = DefaultDivision(
        allow_null=True,
        default=None,
        help_text=(
            "How expenses are divided that do not say how. Default: null, each has to say it."
        ),
    )

    category_budgets = CategoryBudgets(
        allow_empty=False,
        allow_null=True,
        default=None,
        help_text=(
            "Budgets by category, positive amounts in the trip's currency; `budget` need not be "
            "their sum. Default: null, none."
        ),
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        currency = attrs.get("currency", self.context["currency"])
        if attrs.get("budget") is not None:
            attrs["budget"] = Amount(attrs["budget"], currency)
        if attrs.get("category_budgets"):
            budgets = attrs["category_budgets"].items()
            attrs["category_budgets"] = {key: Amount(value, currency) for key, value in budgets}
        if "default_division" in attrs:
            attrs["stored_default_division"] = division_text(attrs.pop("default_division"))
        return attrs


class NewTrip(TripRequest):
    """A trip to create."""

    client_id = NewClientId()


#: What apps take with a change of a trip, and what they show of one.
_OPTIONS = {name: field for app in plugins() for name, field in app.trip_options().items()}

_ADDED = {name: field.shape for app in plugins() for name, field in app.trip_fields().items()}
#: The names of `_ADDED` in the API.
ADDED_NAMES = frozenset(map(camel_case, _ADDED))


@extend_schema_serializer(component_name="Trip")
class TripChange(TripRequest):
    """What to change in a trip."""

    locals().update(_OPTIONS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        options = {name: attrs.pop(name) for name in _OPTIONS if name in attrs}
        return super().validate(attrs) | {"options": options}


class TripMemberSerializer(CamelCaseSerializer):
    """A member of a trip.

    TripMemberDTO.
    """

    id = serializers.IntegerField(
        help_text="The id of the membership; paths use the user's id instead."
    )
    trip_id = serializers.IntegerField(help_text="The trip.")
    client_id = ShownClientId()
    user = UserSummary(help_text="The person.")
    role = serializers.ChoiceField(
        choices=TripRole.choices, help_text="What they may do in the trip."
    )
    joined_at = serializers.DateTimeField(help_text="When they joined, or joined again.")


class TripSerializer(CamelCaseSerializer):
    """A trip as in lists."""

    id = serializers.IntegerField(help_text="The trip's id.")
    client_id = ShownClientId()
    title = serializers.CharField(help_text="The title.")
    destination = serializers.CharField(help_text="Where the trip goes.")
    description = serializers.CharField(help_text="More about the trip; may be empty.")
    image_url = serializers.CharField(
        allow_null=True, help_text="A URL or a path on the front end; null if none is set."
    )
    start_date = serializers.DateField(help_text="The first day.")
    end_date = serializers.DateField(help_text="The last day.")
    budget = MoneyField(
        allow_null=True,
        currency="currency",
        help_text="The budget in the trip's currency; null if none is set.",
    )
    currency = CurrencyField(help_text="The currency of budget, balances, settlements and splits.")
    trip_code = serializers.CharField(
        source="code", help_text="The code with which others join. All members see it."
    )
    join_role = serializers.ChoiceField(
        choices=JOIN_ROLE_CHOICES, help_text="The role of those who join with the code."
    )
    default_division = DefaultDivision(
        source="stored_default_division",
        allow_null=True,
        help_text="How expenses are divided that do not say how; null if each has to say it.",
    )
    category_budgets = CategoryBudgets(
        allow_empty=False,
        source="stored_category_budgets",
        allow_null=True,
        help_text="The budgets by category, in the trip's currency; null if no category has one.",
    )
    current_user_role = serializers.ChoiceField(
        choices=TripRole.choices,
        source="caller_role",
        help_text="The caller's role; for an ADMIN who is no member, `OWNER`.",
    )
    created_at = serializers.DateTimeField(help_text="When the trip was created.")
    updated_at = serializers.DateTimeField(
        help_text="When the trip last changed, without its expenses."
    )


class TripDetailSerializer(TripSerializer):
    """A trip with its members."""

    members = TripMemberSerializer(
        many=True,
        source="present_members",
        help_text="The present members, in the order in which they joined.",
    )
    locals().update(_ADDED)


class TripQuery(CreatedQuery):
    """Which trips to list."""

    locals().update({name: each.field for name, each in trip_filters().items()})


class AddMemberRequest(CamelCaseSerializer):
    """Whom to add to a trip, by id or by address.

    AddMemberRequestDTO.
    """

    user_id = IdField(required=False, help_text="The user to add. Send either this or `email`.")
    email = EmailAddress(required=False, help_text="The address of the user to add, in any case.")
    role = StrictChoice(
        choices=TripRole.choices,
        default=DEFAULT_ROLE,
        help_text="Not above the caller's own. Default: `VIEWER`.",
    )

    exactly_one = ("userId", "email")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        self.require_one(attrs)
        return attrs


class GuestRequest(CamelCaseSerializer):
    """The name of a guest."""

    name = user_name(help_text="2 to 50 characters; it need not be unique.")


class NewGuest(GuestRequest):
    """A guest to add."""

    client_id = NewClientId()


class ChangeMemberRoleRequest(CamelCaseSerializer):
    """The new role of a member.

    ChangeMemberRoleRequestDTO.
    """

    role = StrictChoice(choices=TripRole.choices, help_text="The new role.")
