"""The ledgers of the tests of expenses, and what a closing used."""

from tests.splits.conftest import ledger, ledger_in
from tests.splits.test_offsets import pay_with_rest

__all__ = ["ledger", "ledger_in", "pay_with_rest"]
