"""What `make bench` runs; importing it sets Django up."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
django.setup()
