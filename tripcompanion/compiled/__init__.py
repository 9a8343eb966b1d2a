"""Querysets and serializers that are compiled once; see README.md."""
