"""The ways in: the icon, and paths with a trailing slash."""

import re
import struct

import pytest

from tests.document import problem_of

pytestmark = pytest.mark.once


# -- The icon --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"), [("/favicon.ico", "image/x-icon"), ("/favicon.svg", "image/svg+xml")]
)
def test_the_icon_is_served_at_the_root(client, db, path, kind):
    response = client.get(path)
    content = b"".join(response.streaming_content)
    response.close()
    assert response["Content-Type"] == kind
    assert "no-store" not in response["Cache-Control"]
    if path.endswith(".ico"):
        # The head of the format: reserved, type 1, three images.
        assert struct.unpack("<HHH", content[:6]) == (0, 1, 3)
    else:
        assert content.startswith(b"<svg")


def test_pages_name_the_icon(client, db):
    page = client.get("/api/docs", headers={"Accept": "text/html"}).content.decode()
    assert re.search(r'<link rel="icon" href="/favicon.svg"', page)


# -- Trailing slashes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "is_explained"),
    [
        *(("/api/", True), ("/api/trips/", True), ("/api/trips/7/", True), ("/api/no/", True)),
        *(("/api/no", False), ("/no/", False), ("/apiary/", False)),
    ],
)
def test_a_404_says_that_paths_have_no_trailing_slash(client, path, is_explained):
    for language, text in (("en", "no trailing slash"), ("es", "no terminan en barra")):
        response = client.get(path, headers={"Accept-Language": language})
        assert (text in problem_of(response, 404, "not_found")["detail"]) is is_explained
