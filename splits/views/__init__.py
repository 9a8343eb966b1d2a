"""The views of expenses, splits, settlements, balances, plans and debts."""

from splits.views.category import CategoryViewSet
from splits.views.expense import ExpenseViewSet
from splits.views.invitation import AcceptanceViewSet
from splits.views.merge import MergeViewSet
from splits.views.settlement import BalanceViewSet, ExplanationViewSet, SettlementViewSet
from splits.views.split import DebtViewSet, SplitViewSet

__all__ = [
    "AcceptanceViewSet",
    "BalanceViewSet",
    "CategoryViewSet",
    "DebtViewSet",
    "ExpenseViewSet",
    "ExplanationViewSet",
    "MergeViewSet",
    "SettlementViewSet",
    "SplitViewSet",
]
