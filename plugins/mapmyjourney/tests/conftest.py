"""The client of MapMyJourney, by user."""

import pytest

from plugins.mapmyjourney.tests.app import of_app
from tests.cast import Api


@pytest.fixture
def app(api: Api) -> Api:
    """`app(olga)` is like `api(olga)`, with the header that the client sends."""
    return lambda user: of_app(api(user))
