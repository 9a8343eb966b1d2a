"""What `make fuzz` reports: how much of what it sent succeeded."""

import json

import pytest

from tests.fuzz import report

pytestmark = pytest.mark.once


def test_a_run_in_which_most_requests_are_refused_fails(tmp_path, capsys):
    counts = tmp_path / "counts"
    good, bad = {"GET /api/trips": {"200": 3}}, {"GET /api/trips": {"401": 3}}
    counts.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    assert report(counts) == 0
    assert "50% of 6 answers were 2xx" in capsys.readouterr().out
    with counts.open("a") as file:
        file.write(json.dumps(bad) + "\n")
    assert report(counts) == 1
    assert "33% GET /api/trips (401: 6, 200: 3)" in capsys.readouterr().out
