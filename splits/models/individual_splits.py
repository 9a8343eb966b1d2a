"""Splits that are added or deleted one by one. The expense is no longer a division then."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound, ValidationError

from splits.models.conflicts import AlreadySplit, ExceedsExpense
from splits.models.division import Part, percentage_of
from splits.models.expense import Expense, part_fields
from splits.models.split import Split
from tripcompanion.currency.amounts import Amount, to_major
from trips.models.events import Event
from trips.roles import Can
from users.models import User


def add_split(
    expense: Expense,
    by: User,
    participant_id: int,
    *,
    amount: Amount | None = None,
    percentage_e4: int = 0,
) -> Split:
    """Add a member's split: an amount, or a percentage of the expense.

    Raises `ValidationError` if the person is not a member, `AlreadySplit` or `ExceedsExpense`.
    """
    with expense.locked(by, Can.RECORD) as stored:
        stored.trip.require_members({"participantUserId": [participant_id]})
        posting = stored.posting()
        sign = stored.money.sign
        left_minor = sign * (stored.amount_minor - posting.covered_minor)
        if participant_id in posting.parts:
            raise AlreadySplit
        amount_minor = (
            percentage_of(abs(stored.amount_minor), percentage_e4, left_minor)
            if amount is None
            else sign * stored.trip.minor_units("amount", amount, signed=True)
        )
        if amount is not None and amount_minor < 0:
            raise ValidationError({"amount": [_("Must have the sign of the amount.")]})
        if amount_minor > left_minor:
            raise ExceedsExpense(
                left=to_major(sign * left_minor, stored.trip.currency),
                amount=to_major(sign * amount_minor, stored.trip.currency),
            )
        amount_minor *= sign
        part = Part(amount_minor, percentage_e4=percentage_e4 or None)
        posting.rewrite(posting.paid_by_user, {**posting.parts, participant_id: part})
        stored.divided_by_hand()
        split = Split.objects.with_details().get(expense=stored, participant=participant_id)
        after = part_fields(participant_id, part, to_major(amount_minor, stored.trip.currency))
        posting.note(Event.SPLIT_ADDED, by, {}, after, split.pk)
        stored.notify("expense.changed", posting.people(), by)
        return split


def remove_split(split: Split, by: User) -> None:
    """Delete one split; the payers bear what it covered."""
    with split.expense.locked(by, Can.DELETE_SPLITS) as stored:
        posting = stored.posting()
        # Not its own column: a guest may have been merged since it was read.
        user_id = {row.pk: row.participant_id for row in posting.splits}.get(split.pk)
        if user_id is None:
            raise NotFound
        rest = {u: part for u, part in posting.parts.items() if u != user_id}
        posting.rewrite(posting.paid_by_user, rest)
        stored.divided_by_hand()
        part = posting.parts[user_id]
        amount = to_major(part.amount_minor, stored.trip.currency)
        before = part_fields(user_id, part, amount)
        posting.note(Event.SPLIT_DELETED, by, before, {}, split.pk)
        stored.notify("expense.changed", posting.people(), by)
