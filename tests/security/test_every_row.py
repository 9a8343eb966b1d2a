"""Nothing is forgotten: every row of SECURITY.md has its test, and every test its row."""

import re
from collections import Counter
from pathlib import Path

from tests.document import ROOT

HERE = Path(__file__).parent
TEXT = (ROOT / "SECURITY.md").read_text()
ROWS = Counter(int(number) for number in re.findall(r"^\| T(\d+) \|", TEXT, re.M))
#: Rows up to this one have a test of their number in this folder. The others name their files, and
#: go with what they are about.
LAST_NUMBERED = 128


def played() -> set[int]:
    sources = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    return {int(number) for number in re.findall(r"^def test_t(\d+)_", sources, re.M)}


def test_every_row_has_a_test_and_every_test_its_row() -> None:
    assert played() >= set(range(1, LAST_NUMBERED + 1))
    assert played() <= set(ROWS)
    assert set(ROWS) >= set(range(1, LAST_NUMBERED + 1))


def test_every_row_beyond_names_files_with_tests() -> None:
    rows = dict(re.findall(r"^\| T(\d+) \|.*\| ([^|]+) \|$", TEXT, re.M))
    for number in sorted(number for number in ROWS if number > LAST_NUMBERED):
        files = re.findall(r"`((?:plugins/\w+/)?tests/[\w/]+\.py)`", rows[str(number)])
        assert files, number
        for name in files:
            assert "\ndef test_" in (ROOT / name).read_text(), name


def test_a_row_stands_once() -> None:
    assert {row for row, times in ROWS.items() if times > 1} == set()


def test_what_the_promises_refer_to_exists() -> None:
    named = set(re.findall(r"`((?:plugins/\w+/)?tests/[\w/.]+|make \w+|manage\.py \w+)`", TEXT))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    commands = {path.stem for path in ROOT.glob("**/management/commands/*.py")}
    for name in named:
        program, _blank, word = name.partition(" ")
        found = {"make": word in targets, "manage.py": word in commands}
        assert found.get(program, (ROOT / program).exists()), name
    ranges = re.findall(r"T(\d+)(?:-T(\d+))?", TEXT)
    assert {int(n) for pair in ranges for n in pair if n} <= set(ROWS)
