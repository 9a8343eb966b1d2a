"""The models of the ledger: settlements and debts, splits, expenses."""

from splits.models.allocation import Allocation
from splits.models.audit_run import AuditRun
from splits.models.debt import Debt
from splits.models.deleted import DeletedEntry
from splits.models.division import Division, SplitType
from splits.models.expense import Expense
from splits.models.payer import Payer
from splits.models.people import expenses_with
from splits.models.rate import DailyRate, Rate
from splits.models.settlement import Settlement
from splits.models.split import Split
from trips.models.category import Category
