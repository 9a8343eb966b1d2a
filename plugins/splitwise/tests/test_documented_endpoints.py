"""docs/splitwise.md says of every endpoint what becomes of it, and openapi.yaml what it answers."""

import re

import pytest
from drf_spectacular.validation import validate_schema

from plugins.splitwise.tests.conftest import BASE, DOCUMENT
from plugins.splitwise.tests.urls import urlpatterns
from tests.document import ROOT

#: Each is also served with a slash at the end.
ENDPOINTS = [one for one in urlpatterns[0].url_patterns if not str(one.pattern).endswith("/")]
PAGE = (ROOT / "docs" / "splitwise.md").read_text()
ROWS = re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", PAGE.partition("## Endpoints")[2], re.M)
REFUSED = {"parse_sentence", "get_main_data", "get_request_token", "get_access_token"}

pytestmark = pytest.mark.once


def test_the_table_lists_what_is_routed_and_what_is_refused():
    served, refused = set(), set()
    for names, text in ROWS:
        assert re.match("served|with a difference|refused", text), text
        (refused if text.startswith("refused") else served).update(re.findall("`([a-z_]+)`", names))
    assert served == {str(one.pattern).partition("/")[0] for one in ENDPOINTS}
    assert refused == REFUSED


def test_what_is_refused_is_404(calling, db, olga):
    for path in REFUSED:
        for answer in (
            calling(olga).http.get(f"{BASE}/{path}"),
            calling(olga).http.post(f"{BASE}/{path}"),
        ):
            assert answer.status_code == 404


def test_the_document_has_the_routes_and_their_methods():
    validate_schema(DOCUMENT)
    documented = {path[1:]: {*item} for path, item in DOCUMENT["paths"].items()}
    routed = {
        re.sub("<id:([a-z_]+)>", r"{\1}", str(one.pattern)): {*one.callback.actions} - {"head"}
        for one in ENDPOINTS
        if str(one.pattern) != "get_group/0"
    }
    assert documented == routed


def test_the_document_is_served_to_everybody(api, db):
    assert api(None).get(f"{BASE}/schema").json() == DOCUMENT
