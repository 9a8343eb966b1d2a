"""Accounts in the admin site."""

from tripcompanion.accounts.admin.user import UserAdmin
