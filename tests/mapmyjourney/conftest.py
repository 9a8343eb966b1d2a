"""The client of MapMyJourney, by user."""

import pytest

from tests.conftest import Api
from tests.mapmyjourney.app import of_app


@pytest.fixture
def app(api: Api) -> Api:
    """`app(olga)` is like `api(olga)`, with the header that the client sends."""
    return lambda user: of_app(api(user))
