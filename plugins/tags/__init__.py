"""The tags of a trip: which there are, and other names for them."""
