"""Trips, their members, and the roles that decide who may do what."""
