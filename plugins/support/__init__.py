"""Pages of the admin site with which administrators help."""
