"""Webhooks: messages about changes, sent to addresses that users chose."""
