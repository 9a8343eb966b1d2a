"""The mails that tell notices."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as sent_mails
from django.core.management import call_command


@pytest.fixture
def delivered(settings: Any) -> Callable[[], list[Any]]:
    """`delivered()` sends what is due, and gives the mails of this run."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.EMAIL_URL = {"EMAIL_PORT": 25}

    def send() -> list[Any]:
        before = len(sent_mails.outbox)
        call_command("send_mail_queue")
        return sent_mails.outbox[before:]

    return send
