"""gunicorn's configuration for the baseline: its own worker, and its defaults."""

# Each thread has a database connection; the service executes as many requests at a time.
threads = 4
preload_app = True
