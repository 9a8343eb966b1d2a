"""What people came for besides: each folder is a plugin, and a line in the settings."""
