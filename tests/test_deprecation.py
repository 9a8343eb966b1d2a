"""What will go says so: in the headers of each response, and in the document."""

from datetime import date

import pytest

from splits.views import CategoryViewSet
from tripcompanion.api.viewsets import Deprecation
from tripcompanion.openapi.document import _generated

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("db")]

GOES = Deprecation(since=date(2026, 7, 1), until=date(2027, 1, 1))


@pytest.fixture
def _deprecated(monkeypatch):
    monkeypatch.setattr(CategoryViewSet, "deprecated", {"list": GOES})


@pytest.mark.usefixtures("_deprecated")
@pytest.mark.parametrize(("query", "status"), [("", 200), ("?nothing=1", 400)])
def test_each_response_says_since_when_and_until_when(client, query, status):
    response = client.get(f"/api/categories{query}")
    assert response.status_code == status
    assert response.headers["Deprecation"] == "@1782864000"
    assert response.headers["Sunset"] == "Fri, 01 Jan 2027 00:00:00 GMT"


@pytest.mark.usefixtures("_deprecated")
def test_the_document_marks_it_and_nothing_else(client):
    _generated.cache_clear()
    paths = client.get("/api/schema?format=json").json()["paths"]
    _generated.cache_clear()
    marked = [
        (path, method)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if isinstance(operation, dict) and "deprecated" in operation
    ]
    assert marked == [("/api/categories", "get")]
    assert paths["/api/categories"]["get"]["deprecated"] is True


def test_what_stays_has_no_such_header(client):
    assert not {"Deprecation", "Sunset"} & {*client.get("/api/categories").headers}
