"""Exchange rates of the European Central Bank."""
