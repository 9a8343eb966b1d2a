"""Reports from the ledger: balances, plans, explanations, previews, the audit."""
