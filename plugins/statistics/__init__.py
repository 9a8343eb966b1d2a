"""What a trip has cost: by category, person, day, month and currency, and against its budget."""
