"""How a command reaches the service."""

from django.db import models
from django.utils.translation import gettext_lazy


class Via(models.TextChoices):
    """How the caller of a command was authenticated."""

    SESSION = "session", gettext_lazy("logged in")
    TOKEN = "token", gettext_lazy("scoped token")
    ADMIN = "admin", gettext_lazy("admin site")
    #: A management command, or the service itself.
    SERVICE = "service", gettext_lazy("service")
    #: Not at all: it is in a file that somebody imported.
    IMPORT = "import", gettext_lazy("imported file")
