"""How an expense would be divided, to the cent, without recording it."""

from collections.abc import Mapping
from typing import Any

from splits import money
from splits.models.division import Division
from splits.models.expense import Expense
from splits.models.plugin_fields import plugin_fields
from splits.models.posting import amounts
from splits.models.settlement import Settlement
from splits.models.split import Split
from trips.models import Trip
from users.models import User


def preview_of(
    trip: Trip,
    by: User,
    *,
    paid_by_user: Mapping[int, int | None] | None,
    division: Division,
    payers_field: str = "payers",
    options: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Expense:
    """The expense with its `loaded_splits` and `debts`, all unsaved; `options` are only checked.

    Raises what `Expense.record` raises.
    """
    expense = Expense.draft(trip, by, **fields)
    payments, parts = expense.divide(paid_by_user, division, payers_field)
    people = {member.user_id: member.user for member in trip.members.select_related("user")}
    expense.loaded_splits = [
        Split(expense=expense, participant=people[user_id], **part._asdict())
        for user_id, part in parts.items()
    ]
    owed = money.debts(amounts(parts), amounts(payments), expense.number, expense.places)
    expense.debts = [
        Settlement(trip=trip, sender=people[debtor], receiver=people[creditor], amount_minor=amount)
        for (debtor, creditor), amount in owed.items()
    ]
    for name, value in (options or {}).items():
        plugin_fields()[name].check(trip, value)
    return expense
