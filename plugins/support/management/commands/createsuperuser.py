"""Django's command, with an optional name."""

import os
from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError


class Command(createsuperuser.Command):
    """Creates an ADMIN; the name defaults to the part of the address before the @."""

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["interactive"]:
            email = options["email"] or os.environ.get("DJANGO_SUPERUSER_EMAIL", "")
            name = options["name"] or os.environ.get("DJANGO_SUPERUSER_NAME")
            options["name"] = name or email.partition("@")[0]
            try:
                # Django checks it only if somebody types it.
                validate_password(os.environ.get("DJANGO_SUPERUSER_PASSWORD", ""))
            except ValidationError as error:
                reasons = " ".join(error.messages)
                raise CommandError(f"DJANGO_SUPERUSER_PASSWORD: {reasons}") from error
        super().handle(*args, **options)
