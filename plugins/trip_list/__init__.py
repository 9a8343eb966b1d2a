"""Filters and the order of the list of trips, and the archive of each member."""
