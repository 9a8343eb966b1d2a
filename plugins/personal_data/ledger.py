"""What is stored about the expenses, debts and settlements of an account, for its export."""

from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from rest_framework import serializers

from plugins.fields import ChangesField, ObjectSerializer
from splits.models import Debt, Expense, Payer, Settlement, Split
from splits.models.plugin_fields import with_plugin_fields
from splits.serializers.expense_response import ExpenseSerializer
from splits.serializers.settlement import SettlementSerializer
from splits.serializers.split import PercentageField
from tripcompanion.api.serializers import CamelCaseSerializer
from tripcompanion.currency.fields import CurrencyField, MoneyField
from tripcompanion.plugin import PersonalList
from trips.models import JournalEntry
from trips.models.events import all_events


class ExportedPerson(CamelCaseSerializer):
    """Another user, with only what is needed to read the ledger."""

    id = serializers.IntegerField(help_text="The user's id.")
    name = serializers.CharField(help_text="The display name.")


class ExportedExpense(ExpenseSerializer):
    """An expense that the user recorded; others may have paid it."""

    # What others paid and owe is theirs; what the user did is in `payments` and `splits`.
    participant_user_ids: Any = None
    split_amounts: Any = None
    paid_by: Any = None
    payers: Any = None
    splits: Any = None


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
    percentage = PercentageField()
    created_at = serializers.DateTimeField(help_text="When it was created.")


class ExportedDebt(CamelCaseSerializer):
    """A debt of the user or to the user, from a split."""

    split_id = serializers.IntegerField(help_text="The split that is owed.")
    trip_id = serializers.IntegerField(help_text="The trip.")
    from_ = ExportedPerson(source="debtor", help_text="Who owes it.")
    to = ExportedPerson(source="creditor", help_text="Who is owed.")
    amount = MoneyField(help_text="The debt when it arose.")
    open = MoneyField(help_text="What is still owed.")
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
    event = serializers.ChoiceField(choices=all_events(), help_text="What happened.")
    object = ObjectSerializer(source="subject", help_text="What it happened to.")
    changes = ChangesField(
        read_only=True, help_text="The fields that changed, by their names in the API."
    )


def _with(rows: QuerySet[Any], *columns: str) -> QuerySet[Any]:
    """The rows by their ids, with these columns of others; all would take half as long again."""
    own = [field.name for field in rows.model._meta.concrete_fields]
    related = {path.rpartition("__")[0] for path in columns}
    return rows.select_related(*related).only(*own, *columns).order_by("id")


def _of_expenses(model: Any, **lookup: Any) -> QuerySet[Any]:
    """The rows of a user, with their expenses, which are read by their keys.

    A join would compare them with all expenses of a trip that PostgreSQL does not know.
    """
    columns = ("trip", "description", "expense_date", "currency", "trip__currency")
    expenses = Prefetch("expense", Expense.objects.select_related("trip").only(*columns))
    return model.objects.filter(**lookup).prefetch_related(expenses).order_by("id")


def _debts_of(user: Any) -> QuerySet[Debt]:
    debts = Debt.objects.filter(Q(debtor=user) | Q(creditor=user))
    return _with(debts, "trip__currency", "debtor__name", "creditor__name")


def _settlements_of(user: Any) -> QuerySet[Settlement]:
    found = Settlement.objects.filter(Q(sender=user) | Q(receiver=user) | Q(created_by=user))
    people = (f"{who}__name" for who in ("sender", "receiver", "created_by"))
    return _with(found, "trip__currency", *people)


LISTS = (
    PersonalList(
        "expenses",
        ExportedExpense,
        "The expenses that they recorded.",
        lambda user: _with(
            with_plugin_fields(Expense.objects.filter(created_by=user)), "trip__currency"
        ),
    ),
    PersonalList(
        "payments", ExportedPayment, "What they paid.", lambda user: _of_expenses(Payer, user=user)
    ),
    PersonalList(
        "splits",
        ExportedSplit,
        "Their parts of expenses.",
        lambda user: _of_expenses(Split, participant=user),
    ),
    PersonalList("debts", ExportedDebt, "Debts of theirs and to them.", _debts_of),
    PersonalList(
        "settlements",
        ExportedSettlement,
        "Settlements that they sent, received or recorded.",
        _settlements_of,
    ),
    PersonalList(
        "history",
        ExportedChange,
        "What they changed in trips, also what they wrote in entries that were deleted.",
        lambda user: JournalEntry.objects.filter(by=user).order_by("trip", "number"),
    ),
)
