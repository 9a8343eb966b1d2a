"""Imports from other systems, and exports: a trip as a file."""
