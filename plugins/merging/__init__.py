"""Guests whose entries become those of another member, or of an account that takes their place."""
