"""Mails about what happens in the trips of an account, to those who want them."""
