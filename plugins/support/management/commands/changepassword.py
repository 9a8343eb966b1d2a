"""Django's command, which here changes the password through `User.change`."""

import getpass
from typing import Any

from django.contrib.auth.management.commands import changepassword
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from users.models import User


class Command(changepassword.Command):
    """Changes a password, ends all sessions and notifies the owner by mail."""

    help = "Change the password of the account with this e-mail address, and end its sessions."

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["username"] or getpass.getuser()
        try:
            user = User.objects.get_by_natural_key(email)
        except User.DoesNotExist as error:
            raise CommandError(f"There is no account with the address {email}.") from error
        password = getpass.getpass()
        if getpass.getpass("Password (again): ") != password:
            raise CommandError("The two passwords do not match.")
        try:
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        user.change(by=None, password=password)
        self.stdout.write(f"The password of {user.email} was changed.")
