"""Benchmarks for `make bench`. Importing the package sets up Django for its models."""

import os

import django

# The measured servers set DEBUG=false.
os.environ.setdefault("DEBUG", "true")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tripcompanion.settings")
django.setup()
