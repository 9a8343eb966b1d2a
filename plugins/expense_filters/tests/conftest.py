"""The ledger of the tests of expenses."""

from tests.splits.conftest import ledger, listed

__all__ = ["ledger", "listed"]
