"""Fault injection for `make chaos`, under load from writers that keep a journal.

It starts a real server with four workers and its own PostgreSQL, then kills, stops, crashes, fills
and floods them while the writers continue. Every acknowledged write must be stored exactly once,
and the audit must find no difference.
"""
