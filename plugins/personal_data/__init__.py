"""The export of what is stored about an account."""
