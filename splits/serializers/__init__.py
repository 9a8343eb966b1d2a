"""Shapes of expenses, splits, settlements and balances."""
