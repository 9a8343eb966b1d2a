"""gunicorn's configuration for the baseline: its own worker, and its defaults."""

preload_app = True
