"""What all pages of the admin site share."""
