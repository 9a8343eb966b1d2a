"""Short messages of the members of a trip."""
