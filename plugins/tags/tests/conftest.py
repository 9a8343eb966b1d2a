"""The ledgers of the tests of expenses."""

from tests.splits.conftest import ledger

__all__ = ["ledger"]
