"""The views of expenses, splits, settlements, balances, plans and debts."""

from splits.views.category import CategoryViewSet
from splits.views.expense import ExpenseViewSet
from splits.views.settlement import BalanceViewSet, SettlementViewSet
from splits.views.split import DebtViewSet, SplitViewSet
