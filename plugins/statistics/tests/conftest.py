"""The ledger of the tests of expenses."""

from tests.splits.conftest import ledger, ledger_in

__all__ = ["ledger", "ledger_in"]
