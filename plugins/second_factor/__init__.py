"""The second factor of administrators."""
