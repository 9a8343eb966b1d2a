"""The fixture of the admin site."""

import pytest

from tests.admin_client import AdminClient
from users.models import User


@pytest.fixture
def admin_client(ada: User) -> AdminClient:
    """The admin site, with Ada logged in."""
    return AdminClient(ada)
