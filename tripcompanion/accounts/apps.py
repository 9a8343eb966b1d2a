"""App configuration."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "tripcompanion.accounts"
    label = "accounts"
