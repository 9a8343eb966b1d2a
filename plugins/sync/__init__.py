"""What changed in trips, for clients that were offline."""
