"""Mails: sending the outbox, and notices of what happens in trips."""
