"""Everything that is held about one person, for that person."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet

from splits.models.book import Payer
from splits.models.expense import Expense
from splits.models.settlement import Debt, Settlement
from splits.models.split import Split
from trips.models import Member
from users.models import User


def held_about(user: User) -> Mapping[str, QuerySet]:
    """The rows about `user` by what they are, each a single query, the oldest first.

    A model that comes to hold something about people belongs in here.
    """
    either_side = Q(debtor=user) | Q(creditor=user)
    either_end = Q(sender=user) | Q(receiver=user) | Q(created_by=user)
    of_debt = ("trip", "debtor", "creditor")
    of_settlement = ("trip", "sender", "receiver", "created_by")
    rows: dict[str, QuerySet] = {
        "log_ins": user.sessions.order_by("created_at"),
        "scripts": user.scoped_tokens.order_by("id"),
        "memberships": Member.objects.filter(user=user).select_related("trip"),
        "expenses": Expense.objects.filter(created_by=user).order_by("id"),
        "payments": Payer.objects.filter(user=user).select_related("expense").order_by("id"),
        "splits": Split.objects.filter(participant=user)
        .select_related("expense__trip")
        .order_by("id"),
        "debts": Debt.objects.with_state()
        .filter(either_side)
        .select_related(*of_debt)
        .order_by("id"),
        "settlements": Settlement.objects.filter(either_end)
        .select_related(*of_settlement)
        .order_by("id"),
    }
    return rows
