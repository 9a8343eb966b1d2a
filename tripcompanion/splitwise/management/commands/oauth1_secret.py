"""Prints the secret with which a program signs its requests."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

if settings.SPLITWISE_OAUTH:
    from tripcompanion.splitwise.oauth1 import Application, secret_of


class Command(BaseCommand):
    help = "Print the secret of a program that logs in by OAuth 1.0a."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client_id", help="as it was registered")

    def handle(self, *args: Any, client_id: str, **options: Any) -> None:
        if not settings.SPLITWISE_OAUTH:
            raise CommandError("This needs SPLITWISE_API=true and the extra `splitwise`.")
        if not Application.objects.filter(client_id=client_id).exists():
            raise CommandError("There is no such program.")
        self.stdout.write(secret_of(client_id))
