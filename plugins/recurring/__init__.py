"""Recurring expenses: recorded by a worker on the days of a rule."""
