"""Reports from the ledger: balances, plans, previews, the audit."""
