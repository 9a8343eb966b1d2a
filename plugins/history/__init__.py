"""What happened in a trip and to an expense, with a sentence for each change."""
