"""What the members of a trip plan: activities, day by day."""
