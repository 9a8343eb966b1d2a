"""Imports of files, of other systems and our own, and exports: a trip as a file."""
