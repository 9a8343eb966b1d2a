"""Filters of the list of expenses that accounts save."""
