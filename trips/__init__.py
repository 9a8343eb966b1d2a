"""Who travels, and who may do what: trips, members, roles."""
