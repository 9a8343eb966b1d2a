"""docs/error-codes.md is up to date, and has every code with its meaning."""

import os
import re

import pytest

from tests import error_codes
from tests.document import DOCUMENT as API
from tests.document import ROOT, usual_plugins
from tests.sources import shipped
from tripcompanion.serving import server

pytestmark = pytest.mark.once

FILE = ROOT / "docs" / "error-codes.md"


def documented():
    """Status and meaning by code."""
    found = {}
    for status, section in re.findall(
        r"^## ([0-9]+) .*?\n(.*?)(?=^## |\Z)", FILE.read_text(), re.M | re.S
    ):
        for code, meaning in re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.M):
            assert code not in found
            found[code] = (int(status), meaning)
    return found


@usual_plugins
def test_the_document_is_what_the_classes_say():
    if os.environ.get("WRITE_ERROR_CODES"):
        FILE.write_text(error_codes.document())
    assert FILE.read_text() == error_codes.document()


def test_every_code_has_a_meaning_that_people_can_read():
    for code, (_status, meaning) in documented().items():
        assert re.fullmatch(r"[A-Z`].{10,}\.", meaning), code
        assert not re.search(r"`[A-Z_]{3,}`", meaning), code


def test_every_code_that_the_sources_name_is_documented():
    named = {code for _kind, _status, code in server._REFUSALS}
    for path in shipped():
        source = path.read_text()
        named |= set(re.findall(r'default_code(?:: \w+)? = "(\w+)"', source))
        named |= set(re.findall(r'(?:_answer|problem)\(\s*[0-9]+,\s*"(\w+)"', source))
        named |= set(re.findall(r'(?:ParseError|PermissionDenied|NotFound)\(.+, "(\w+)"', source))
    assert {"balance_open", "uri_too_long", "out_of_range", "bad_request"} <= named
    assert named <= documented().keys()


def test_every_code_that_the_api_document_shows_has_its_status():
    shown = set(problems_in(API))
    assert len(shown) > 20
    assert shown <= {(code, status) for code, (status, _meaning) in documented().items()}


def problems_in(part):
    """Code and status of every problem document in the examples of `part`."""
    if isinstance(part, dict) and {"code", "status", "requestId"} <= part.keys():
        if isinstance(part["code"], str):
            yield part["code"], part["status"]
    elif isinstance(part, dict | list):
        for child in part.values() if isinstance(part, dict) else part:
            yield from problems_in(child)
