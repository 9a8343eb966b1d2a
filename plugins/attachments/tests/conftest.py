"""Fixtures of attachments."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from pytest_django.fixtures import Settings

from plugins.attachments.tests.pictures import send
from splits.models import Expense
from tests.factories import spend
from trips.models import Trip
from users.models import User

Folder = Path


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Iterator[Folder]:
    """The folder of the files, empty."""
    store = {**settings.STORAGES["attachments"], "OPTIONS": {"location": str(tmp_path / "files")}}
    with override_settings(STORAGES={**settings.STORAGES, "attachments": store}):
        yield tmp_path / "files"


@pytest.fixture
def dinner(trip: Trip, olga: User, ed: User) -> Expense:
    """Olga's expense."""
    return spend(trip, 4200, paid_by=olga, among=[olga, ed])


@pytest.fixture
def attach(api: Any, olga: User, dinner: Expense) -> Callable[..., dict[str, Any]]:
    """`attach(content)` uploads a file to the dinner as Olga."""

    def upload(content: bytes, name: str = "taxi.jpg") -> dict[str, Any]:
        answer = send(api(olga), f"/api/expenses/{dinner.pk}/attachments", content, name)
        assert answer.status_code == 201, answer.content
        return answer.json()

    return upload


def stored(folder: Folder) -> list[Path]:
    """All stored files."""
    return [path for path in folder.rglob("*") if path.is_file()]
