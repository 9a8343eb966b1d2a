"""Reads `/metrics` of a server, as Prometheus does."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tests.server import Server, running_server

TOKEN = secrets.token_urlsafe(32)
#: Prometheus knows a target by its address, which is not in ALLOWED_HOSTS.
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Host": "192.0.2.7:8000"}


@contextmanager
def measured_server(**environment: str) -> Iterator[Server]:
    """A server of two processes that counts."""
    with running_server(METRICS_TOKEN=TOKEN, **environment) as server:
        yield server


def samples(server: Server) -> list[Sample]:
    """Everything that the server measured."""
    response = httpx.get(f"{server.url}/metrics", headers=HEADERS, timeout=20)
    assert response.status_code == 200, response.text
    families = text_string_to_metric_families(response.text)
    return [sample for family in families for sample in family.samples]


def total(server: Server, name: str, **labels: str) -> float:
    """The sum of all samples with this name and these labels."""
    return sum(
        sample.value
        for sample in samples(server)
        if sample.name == f"tripcompanion_{name}" and labels.items() <= sample.labels.items()
    )
