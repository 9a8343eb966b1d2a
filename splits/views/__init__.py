"""Expenses, splits, settlements, and what follows from them: balances, plans, debts."""

from splits.views.account import AccountViewSet
from splits.views.expense import ExpenseViewSet
from splits.views.settlement import BalanceViewSet, ExplanationViewSet, SettlementViewSet
from splits.views.split import DebtViewSet, SplitViewSet

__all__ = [
    "AccountViewSet",
    "BalanceViewSet",
    "DebtViewSet",
    "ExpenseViewSet",
    "ExplanationViewSet",
    "SettlementViewSet",
    "SplitViewSet",
]
