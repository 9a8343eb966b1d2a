"""The demo data: `manage.py demo`, with which `make run` starts."""
