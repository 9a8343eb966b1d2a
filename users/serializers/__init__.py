"""Serializers of accounts, sessions and tokens."""
