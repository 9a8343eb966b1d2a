"""Who owes whom: expenses, splits, settlements, balances."""
