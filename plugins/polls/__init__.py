"""Polls: questions to the members of a trip, and their votes."""
