"""Fixtures of documents."""

from plugins.documents.tests.asking import ask, documents, folder

__all__ = ["ask", "documents", "folder"]
