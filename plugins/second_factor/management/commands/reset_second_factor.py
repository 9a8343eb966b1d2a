"""Removes the second factor of an administrator who has lost it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from plugins.second_factor.models import AuthenticatorApp
from users.models import User


class Command(BaseCommand):
    """For an operator, who has made sure that the request comes from the administrator."""

    help = (
        "Remove the authenticator app and the recovery codes of the account with this e-mail "
        "address, and end its sessions. Its password stays."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"]
        try:
            user = User.objects.get_by_natural_key(email)
        except User.DoesNotExist as error:
            raise CommandError(f"There is no account with the address {email}.") from error
        if not AuthenticatorApp.reset(user):
            raise CommandError(f"{user.email} has no second factor.")
        self.stdout.write(f"The second factor of {user.email} was removed, and its sessions ended.")
