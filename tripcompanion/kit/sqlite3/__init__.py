"""A database backend; Django looks for it in `base`."""
