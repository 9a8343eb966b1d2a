"""A receiver of messages, and a webhook that leads to it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plugins import outgoing
from plugins.webhooks.tests.hooks import register
from plugins.webhooks.tests.receiver import HOST, Authority, Receiver, receiving, resolving
from tests.cast import Api
from trips.models import Trip
from users.models import User


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: Any) -> Authority:
    """Whoever signs certificates that senders trust."""
    authority = Authority(tmp_path / "ca.pem")
    authority.ca.cert_pem.write_to_path(str(authority.file))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    outgoing._context.cache_clear()
    return authority


@pytest.fixture
def receiver(authority: Authority, monkeypatch: Any, settings: Any) -> Iterator[Receiver]:
    """A receiver at `HOST`, over TLS, that webhooks may lead to."""
    resolving(monkeypatch, hooks_example=["127.0.0.1"])
    settings.WEBHOOKS_ALLOW_PRIVATE = True
    with receiving(authority.context(HOST)) as receiver:
        yield receiver


@pytest.fixture
def hook(api: Api, trip: Trip, olga: User, receiver: Receiver) -> dict[str, Any]:
    """Olga's webhook for her trip."""
    return register(api, olga, url=f"https://{HOST}:{receiver.port}/", tripId=trip.pk)
