"""Documents in the trip of the cast, and files for them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from plugins.attachments.tests.conftest import Folder, folder, stored
from plugins.attachments.tests.pictures import PDF
from tests.cast import Api
from trips.models import Trip
from users.models import User

__all__ = ["Folder", "folder", "stored"]

PASSPORT = {"name": "Copy of the passport", "wanted": "members"}


@pytest.fixture
def documents(trip: Trip) -> str:
    return f"/api/trips/{trip.pk}/documents"


@pytest.fixture
def ask(api: Api, documents: str, ed: User) -> Callable[..., str]:
    """Makes a document of Ed's for each member; returns its path."""

    def asked(**fields: Any) -> str:
        made = api(ed).post(documents, {**PASSPORT, **fields})
        assert made.status_code == 201, made.json()
        return made["Location"]

    return asked


def attach(client: Any, path: str, content: bytes = PDF, name: str = "me.pdf", **form: Any) -> Any:
    body = encode_multipart(BOUNDARY, {"file": SimpleUploadedFile(name, content), **form})
    return client.post(f"{path}/attachments", body, content_type=MULTIPART_CONTENT)


def names(people: Any) -> list[str]:
    return [person["name"] for person in people]
