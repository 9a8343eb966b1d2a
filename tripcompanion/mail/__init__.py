"""Mails to accounts: their texts, and sending what is in the outbox."""
