"""What members write about an expense."""
