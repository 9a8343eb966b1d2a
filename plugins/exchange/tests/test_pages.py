"""The pages of imports in the browsable API."""

import re

import pytest

from plugins.exchange.tests.conftest import send_form
from tests.pages import page_of, text_of

pytestmark = pytest.mark.once


def test_the_labels_of_a_form_are_words(olga):
    labels = {
        language: re.findall(
            r"<label[^>]*>\s*(.*?)\s*</label>", page_of(olga, "/api/imports", language)
        )
        for language in ("en", "es")
    }
    assert {"File", "Trip id", "Time zone", "As new trip"} < set(labels["en"])
    assert {"Archivo", "Id del viaje", "Zona horaria", "Como viaje nuevo"} < set(labels["es"])


def test_a_form_with_a_file_can_be_sent_with_the_file_alone(api, olga, trip):
    exported = api(olga).get(f"/api/trips/{trip.pk}/export", HTTP_ACCEPT="application/json")
    page = page_of(olga, "/api/imports")
    assert re.search(r'<input name="file"\s+type="file"', page)
    selects = re.findall(r'<select[^>]* name="(\w+)">\s*<option value="(\w*)"', page)
    assert selects == [("currency", ""), ("asNewTrip", "")]
    texts = dict.fromkeys(re.findall(r'<input name="(\w+)" class', page), "")
    assert {"title", "mapping"} < texts.keys()
    empty = {**texts, **dict(selects)}
    sent = send_form(api(olga), exported.getvalue(), "trip.json", **empty)
    assert sent.status_code == 201, sent.json()


def test_a_plan_is_named_after_its_trip(api, olga, trip):
    exported = api(olga).get(f"/api/trips/{trip.pk}/export", HTTP_ACCEPT="application/json")
    planned = send_form(api(olga), exported.getvalue(), "trip.json").json()
    page = page_of(olga, f"/api/imports/{planned['id']}")
    assert text_of(re.search(r"<h1>(.*?)</h1>", page)[1]) == trip.title
