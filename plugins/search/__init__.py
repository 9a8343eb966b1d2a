"""The search in all that a user may see."""
