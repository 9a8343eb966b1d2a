"""Invitations: links by which others become members of a trip."""
