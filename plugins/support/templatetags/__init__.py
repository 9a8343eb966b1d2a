"""Template tags of the admin site."""
