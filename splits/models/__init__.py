"""The models of the ledger: settlements and debts, splits, expenses."""

from splits.models.audit_run import AuditRun
from splits.models.deleted import DeletedEntry
from splits.models.division import Division, SplitType
from splits.models.expense import Category, Expense
from splits.models.period import ClosedPeriod, ClosedSum
from splits.models.posting import Payer
from splits.models.rate import Rate
from splits.models.settlement import Allocation, Debt, Settlement
from splits.models.split import Split

__all__ = [
    "Allocation",
    "AuditRun",
    "Category",
    "ClosedPeriod",
    "ClosedSum",
    "Debt",
    "DeletedEntry",
    "Division",
    "Expense",
    "Payer",
    "Rate",
    "Settlement",
    "Split",
    "SplitType",
]
