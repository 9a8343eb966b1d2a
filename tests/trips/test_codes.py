"""Trip codes: their form."""

import re
from itertools import chain

import pytest

from tests.factories import TripFactory
from tests.trips.bodies import lisbon
from trips.models import joining

pytestmark = pytest.mark.either


def test_codes_have_8_characters_and_no_look_alikes(api, olga):
    client = api(olga)
    codes = {client.post("/api/trips", lisbon()).json()["tripCode"] for _trip in range(30)}
    assert len(codes) == 30
    assert all(re.fullmatch("[A-Z2-9]{8}", code) for code in codes)
    assert not set("".join(codes)) & set("0O1I")
    assert len(joining.CODE_ALPHABET) ** joining.CODE_CHARS >= 2**40


def test_a_code_that_another_trip_has_is_not_given_again(api, olga, monkeypatch):
    taken = TripFactory(code="ABCDEFGH")
    letters = chain(taken.code, "JKLMNPQR")
    monkeypatch.setattr(joining.secrets, "choice", lambda _letters: next(letters))
    made = api(olga).post("/api/trips", lisbon())
    assert made.json()["tripCode"] == "JKLMNPQR"
