"""Many expenses in one request."""
