"""Django's command, with an optional name."""

import os
from typing import Any

from django.contrib.auth.management.commands import createsuperuser


class Command(createsuperuser.Command):
    """Creates an ADMIN; the name defaults to the part of the address before the @."""

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["interactive"]:
            email = options["email"] or os.environ.get("DJANGO_SUPERUSER_EMAIL", "")
            name = options["name"] or os.environ.get("DJANGO_SUPERUSER_NAME")
            options["name"] = name or email.partition("@")[0]
        super().handle(*args, **options)
