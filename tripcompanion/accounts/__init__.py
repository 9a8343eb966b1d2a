"""Accounts together with their trips and ledger entries."""
