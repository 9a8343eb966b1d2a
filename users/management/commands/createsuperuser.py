"""Django's command, with a name that may be left out."""

import os
from typing import Any

from django.contrib.auth.management.commands import createsuperuser


class Command(createsuperuser.Command):
    """Makes an ADMIN; without a name it is the part of the e-mail address before the @."""

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["interactive"]:
            email = options["email"] or os.environ.get("DJANGO_SUPERUSER_EMAIL", "")
            name = options["name"] or os.environ.get("DJANGO_SUPERUSER_NAME")
            options["name"] = name or email.partition("@")[0]
        super().handle(*args, **options)
