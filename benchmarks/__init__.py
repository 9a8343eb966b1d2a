"""What `make bench` runs; importing it sets Django up, for the modules that know the models."""

import os

import django

# The servers that are measured are told otherwise.
os.environ.setdefault("DEBUG", "true")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
django.setup()
