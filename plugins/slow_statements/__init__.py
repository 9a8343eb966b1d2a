"""The log of slow statements."""
