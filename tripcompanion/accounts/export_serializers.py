"""Serializers of `/api/users/me/export`."""

from typing import Any

from rest_framework import serializers

from plugins.attachments.serializers import AttachmentSerializer
from plugins.exchange.serializers import ImportSummary
from plugins.recurring.serializers import RecurrenceSerializer
from plugins.webhooks.serializers import WebhookSerializer
from splits.serializers.comment import CommentSerializer
from splits.serializers.expense_response import ExpenseSerializer
from splits.serializers.history import ChangesField, ObjectSerializer
from splits.serializers.saved_filter import SavedFilterSerializer
from splits.serializers.settlement import SettlementSerializer
from splits.serializers.split import ScaledField
from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.currency.fields import CurrencyField, MoneyField
from trips.models.events import Event
from trips.roles import TripRole
from users.serializers import UserSerializer


class ExportedAccount(UserSerializer):
    """The account, with every field."""

    email_verified_at = serializers.DateTimeField(
        allow_null=True, help_text="When the address was confirmed; null if it is not."
    )
    last_browser_log_in = serializers.DateTimeField(
        source="last_login",
        allow_null=True,
        help_text="The last login to the admin site or the browsable API; null if none.",
    )


class ExportedPerson(CamelCaseSerializer):
    """Another user, with only what is needed to read the ledger."""

    id = serializers.IntegerField(help_text="The user's id.")
    name = serializers.CharField(help_text="The display name.")


class ExportedLogIn(CamelCaseSerializer):
    """An API session."""

    device = serializers.CharField(help_text="The `User-Agent` header of the login.")
    address = serializers.CharField(help_text="The network address of the login.")
    created_at = serializers.DateTimeField(help_text="When the user logged in.")
    used_at = serializers.DateTimeField(help_text="When it was last used, to within ten minutes.")
    expires_at = serializers.DateTimeField(help_text="When its refresh token expires.")
    ended_at = serializers.DateTimeField(
        allow_null=True, help_text="When the user logged out; null if they did not."
    )


class ExportedToken(CamelCaseSerializer):
    """A scoped token, without its secret."""

    name = serializers.CharField(help_text="What the token is for.")
    hint = serializers.CharField(help_text="The first characters of the token.")
    scopes = serializers.CharField(
        source="scope_words", help_text="The scopes, separated by spaces."
    )
    trip_id = serializers.IntegerField(
        allow_null=True, help_text="The only trip that it gives access to; null for all."
    )
    created_at = serializers.DateTimeField(help_text="When it was created.")
    used_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was last used; null if never."
    )
    expires_at = serializers.DateTimeField(help_text="When it expires.")


class ExportedInvitation(CamelCaseSerializer):
    """An invitation that the user made, without its token."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    role = serializers.ChoiceField(
        choices=TripRole.choices, help_text="The role of those who accept."
    )
    email = serializers.CharField(
        allow_null=True, help_text="The address that it was sent to; null if it is a link only."
    )
    note = serializers.CharField(help_text="May be empty.")
    uses = serializers.IntegerField(help_text="How many accepted it.")
    created_at = serializers.DateTimeField(help_text="When it was created.")
    expires_at = serializers.DateTimeField(help_text="When it expires.")


class ExportedWebhook(WebhookSerializer):
    """A webhook that the user registered, without its secret."""


class ExportedMembership(CamelCaseSerializer):
    """A present or former membership of the user, with their balance."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    title = serializers.CharField(source="trip.title", help_text="The title of the trip.")
    destination = serializers.CharField(source="trip.destination", help_text="Where the trip goes.")
    start_date = serializers.DateField(source="trip.start_date", help_text="The first day.")
    end_date = serializers.DateField(source="trip.end_date", help_text="The last day.")
    role = serializers.ChoiceField(choices=TripRole.choices, help_text="The role in the trip.")
    joined_at = serializers.DateTimeField(help_text="When the user joined.")
    left_at = serializers.DateTimeField(
        allow_null=True, help_text="When they left; null if they are a member."
    )
    currency = CurrencyField(source="trip.currency", help_text="The currency of the amounts.")
    paid = MoneyField(currency="trip.currency", help_text="What they paid for expenses.")
    share = MoneyField(currency="trip.currency", help_text="Their part of all expenses.")
    sent = MoneyField(currency="trip.currency", help_text="What they handed to others.")
    received = MoneyField(currency="trip.currency", help_text="What others handed to them.")
    balance = MoneyField(
        currency="trip.currency", help_text="`paid` - `share` + `sent` - `received`."
    )


class ExportedExpense(ExpenseSerializer):
    """An expense that the user recorded; others may have paid it."""

    # What others paid and owe is theirs; what the user did is in `payments` and `splits`.
    participant_user_ids: Any = None
    split_amounts: Any = None
    paid_by: Any = None
    payers: Any = None
    splits: Any = None


class ExportedComment(CommentSerializer):
    """A comment that the user wrote."""

    by: Any = None
    trip_id = serializers.IntegerField(source="expense.trip_id", help_text="The trip.")


class ExportedAttachment(AttachmentSerializer):
    """A file that the user attached; the archive has its content as `attachments/<id>.<type>`."""

    by: Any = None
    trip_id = serializers.IntegerField(help_text="The trip.")
    expense_id = serializers.IntegerField(
        allow_null=True, help_text="The expense; null for a file of the trip."
    )


class ExportedPayment(CamelCaseSerializer):
    """What the user paid for an expense; others may have recorded it."""

    expense_id = serializers.IntegerField(help_text="The expense.")
    trip_id = serializers.IntegerField(source="expense.trip_id", help_text="The trip.")
    description = serializers.CharField(source="expense.description", help_text="What it was.")
    expense_date = serializers.DateField(
        source="expense.expense_date", help_text="The day of the expense."
    )
    amount = MoneyField(
        source="entered", currency="expense.currency", help_text="What the user paid."
    )
    currency = CurrencyField(source="expense.currency", help_text="The currency of `amount`.")
    trip_amount = MoneyField(
        source="amount", currency="expense.trip.currency", help_text="The same in `tripCurrency`."
    )
    trip_currency = CurrencyField(source="expense.trip.currency", help_text="The trip's currency.")


class ExportedSplit(CamelCaseSerializer):
    """The user's share of an expense."""

    id = serializers.IntegerField(help_text="The split's id.")
    expense_id = serializers.IntegerField(help_text="The expense.")
    trip_id = serializers.IntegerField(source="expense.trip_id", help_text="The trip.")
    description = serializers.CharField(source="expense.description", help_text="What it was.")
    expense_date = serializers.DateField(
        source="expense.expense_date", help_text="The day of the expense."
    )
    amount = MoneyField(currency="expense.trip.currency", help_text="The user's part.")
    currency = CurrencyField(source="expense.trip.currency", help_text="The currency of `amount`.")
    percentage = ScaledField(
        source="percentage_e4",
        allow_null=True,
        help_text="The percentage that was entered; null for other split types.",
    )
    created_at = serializers.DateTimeField(help_text="When it was created.")


class ExportedDebt(CamelCaseSerializer):
    """A debt of the user or to the user, from a split."""

    split_id = serializers.IntegerField(help_text="The split that is owed.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    from_ = ExportedPerson(source="debtor", help_text="Who owes it.")
    to = ExportedPerson(source="creditor", help_text="Who is owed.")
    amount = MoneyField(currency="trip.currency", help_text="The debt when it arose.")
    open = MoneyField(currency="trip.currency", help_text="What is still owed.")
    currency = CurrencyField(source="trip.currency", help_text="The currency of the amounts.")


class ExportedSettlement(SettlementSerializer):
    """A settlement that the user sent, received or recorded."""

    from_: Any = ExportedPerson(source="sender", help_text="Who paid.")
    to: Any = ExportedPerson(source="receiver", help_text="Who received it.")
    recorded_by = ExportedPerson(source="created_by", help_text="Who recorded it.")


class ExportedChange(CamelCaseSerializer):
    """A change of a trip that the user made, as it is in the trip's history."""

    trip_id = serializers.IntegerField(help_text="The trip.")
    number = serializers.IntegerField(help_text="Counts the changes of the trip.")
    at = serializers.DateTimeField(help_text="When it happened.")
    event = serializers.ChoiceField(choices=Event.choices, help_text="What happened.")
    object = ObjectSerializer(source="subject", help_text="What it happened to.")
    changes = ChangesField(
        read_only=True, help_text="The fields that changed, by their names in the API."
    )


class AccountExport(CamelCaseSerializer):
    """All data about the user. Other users appear with id and name only."""

    account = ExportedAccount(help_text="The account itself.")
    log_ins = ExportedLogIn(many=True, help_text="The user's API sessions.")
    scripts = ExportedToken(many=True, help_text="Their scoped tokens.")
    filters = SavedFilterSerializer(many=True, help_text="Their saved filters.")
    invitations = ExportedInvitation(many=True, help_text="The invitations that they made.")
    imports = ImportSummary(many=True, help_text="The files that they imported.")
    webhooks = ExportedWebhook(many=True, help_text="The webhooks that they registered.")
    memberships = ExportedMembership(many=True, help_text="Their trips, present and former.")
    expenses = ExportedExpense(many=True, help_text="The expenses that they recorded.")
    recurring = RecurrenceSerializer(many=True, help_text="Their recurring expenses.")
    comments = ExportedComment(many=True, help_text="The comments that they wrote.")
    attachments = ExportedAttachment(many=True, help_text="The files that they attached.")
    payments = ExportedPayment(many=True, help_text="What they paid.")
    splits = ExportedSplit(many=True, help_text="Their parts of expenses.")
    debts = ExportedDebt(many=True, help_text="Debts of theirs and to them.")
    settlements = ExportedSettlement(
        many=True, help_text="Settlements that they sent, received or recorded."
    )
    history = ExportedChange(
        many=True,
        help_text="What they changed in trips, also what they wrote in entries that were deleted.",
    )
