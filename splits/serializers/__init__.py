"""Serializers of expenses, splits, settlements and balances."""
