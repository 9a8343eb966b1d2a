"""Expenses that are copied or moved to another trip."""
