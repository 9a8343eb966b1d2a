"""The paths of the predecessor answer with pages, too."""

import pytest

from tests.test_html_answers import assert_pages, browser_of, ids

pytestmark = pytest.mark.once

__all__ = ["ids"]


@pytest.mark.parametrize("has_token", [True, False])
@pytest.mark.parametrize("path", ["/api/expenses/{expenseId}", "/api/expenses", "/api/trips"])
def test_so_do_the_paths_of_the_predecessor(olga, ids, path, has_token):
    for user in (olga, None):
        client = browser_of(user, has_token=has_token)
        assert_pages(client, path.format(**ids), HTTP_X_APP_CLIENT="MapMyJourney/1.0")
