"""The benchmark: baseline, reference and service agree, and wrong responses are detected."""

import copy
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client

from benchmarks.__main__ import main
from benchmarks.client import Answer, Leg, Request
from benchmarks.data import fill
from benchmarks.growth import measure as measure_growth
from benchmarks.importing import measure as measure_importing
from benchmarks.operations import OPERATIONS, World
from benchmarks.reference import Reference
from benchmarks.report import Row, above, table
from benchmarks.servers import home
from tests.compiled_only import compiled_only
from tests.document import ROOT, usual_plugins
from tests.migrated import migrated_database

SIZE = 20


@pytest.mark.slow
@compiled_only  # otherwise wide pages take so much memory that the worker is replaced
def test_a_small_run_finds_no_wrong_answer(capsys):
    database = ["--sqlite"] if connection.vendor == "sqlite" else []
    status = main(["--sizes", str(SIZE), "--seconds", "0.01", "--rounds", "1", *database])
    said = capsys.readouterr().out
    assert (status, " 0 wrong." in said, "no difference" in said) == (0, True, True), said
    for name in OPERATIONS:
        assert f"| {name} | {SIZE} |" in said


def ask(request):
    response = Client().generic(
        request.method,
        request.path,
        b"" if request.body is None else orjson.dumps(request.body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {request.token}"} if request.token else {},
    )
    return Answer(request, response.status_code, response.content)


def twisted(value):
    """The same answer with its last number changed, however deep that is; None without one."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return value + 1
    places: Any = ()
    if isinstance(value, dict | list):
        places = [*value] if isinstance(value, dict) else range(len(value))
    for place in reversed(places):
        held = None if place == "id" else twisted(value[place])
        if held is not None:
            changed = copy.copy(value)
            changed[place] = held
            return changed
    return None


@usual_plugins
def test_a_wrong_figure_is_noticed(db):
    fill(SIZE)
    reference, world = Reference(SIZE), World.find(SIZE, ask)
    for name, operation in OPERATIONS.items():
        answer = ask(next(operation.requests(world)))
        assert operation.is_right(reference, world, answer), (name, answer.body)
        assert not operation.is_right(reference, world, answer._replace(status=202)), name
        wrong = answer._replace(body=orjson.dumps(twisted(answer.data)))
        assert not operation.is_right(reference, world, wrong), name


def test_ratios_and_growth_are_those_of_the_medians():
    answer = Answer(Request("GET", "/"), 200, b"")
    rows = {}
    for size, times_ms in ((100, (3, 4, 90)), (10_000, (6, 6, 90))):
        row = rows["page", size] = Row()
        for time_ms in times_ms:
            leg = Leg(seconds=2, latencies_ms=[time_ms] * 8, answers=[answer])
            row.service.alone.append(leg)
            row.service.crowd.append(leg)
            row.uncompiled.alone.append(leg)
            row.baseline.alone.append(replace(leg, latencies_ms=[1] * 8))
            row.baseline.crowd.append(replace(leg, seconds=1))
    *_head, small, large = table(rows).splitlines()
    assert small.split("|")[-6:-1] == [" 4.00 ", " 0.50 ", "  ", " 2175% ", "  "]
    assert large.split("|")[-6:-1] == [" 6.00 ", " 0.50 ", "  ", " 1400% ", " 1.50 "]
    slow, grown = above(rows, {"page": 5.0}, flat={"page"})
    assert slow == "page(10,000): 6.0 times the baseline, the goal is 5"
    assert grown == "page(10,000): grows 1.50 times, the goal is 1.2"
    assert list(above(rows, {"page": 7.0}, flat=())) == []


@usual_plugins
@pytest.mark.once
def test_the_moves_between_files_are_as_documented(tmp_path):
    database = shutil.copy(migrated_database("sqlite://"), tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.trace"],
        cwd=ROOT,
        env={"DEBUG": "true", "DATABASE_URL": f"sqlite:///{database}"},
        capture_output=True,
        text=True,
        check=True,
    )
    moves = re.findall(r"^(.+): \d+ files, (\d+) moves, (\d+) ", done.stdout, re.MULTILINE)
    document = (ROOT / "benchmarks" / "README.md").read_text()
    assert moves == re.findall(r"^\| `(\w+ /.+)` \| (\d+) \| (\d+) \|", document, re.MULTILINE)
    assert moves


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor == "sqlite", reason="COPY is PostgreSQL's")
@pytest.mark.needs("pg_dump")
def test_growth_writes_a_ledger_without_differences(capsys):
    with home(sqlite=False) as place:
        measure_growth(place, 0.002)
    said = capsys.readouterr().out
    assert "2 trips, no difference." in said
    assert "200 idempotency keys" in said
    assert "200 throttle counters" in said
    assert "2,000 splits" in said


@pytest.mark.slow
def test_importing_measures_both_steps_of_each_file(capsys):
    """One size, because times of so few rows say nothing about growth."""
    with home(sqlite=connection.vendor == "sqlite") as place:
        status = measure_importing(place, [100])
    said = capsys.readouterr().out
    assert (status, "1 trips, no difference." in said) == (0, True), said
    assert "| plan | 100 |" in said
    assert "| confirm | 100 |" in said
