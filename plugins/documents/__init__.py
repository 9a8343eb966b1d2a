"""Documents: what everybody has to bring to a trip, and who has not attached it yet."""
