"""The rows of attacks: `make rows` prints each with its property and the tests that hold it.

A row is the first line of the docstring of the test that holds it, such as `T05: The trip is taken
from the path.`, or `T17, T18: …` if it holds several. Other tests of the row have its number in
their names: `test_t05_…`.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.document import ROOT


class Row(NamedTuple):
    """One way to break a promise, and the test that it does not work."""

    number: int
    what_holds: str
    test: str

    def __str__(self) -> str:
        return f"T{self.number:02}  {self.what_holds}\n     {self.test}"


@cache
def docstrings() -> list[tuple[str, str, str]]:
    """File, name and docstring of each test that git knows."""
    return [*_docstrings()]


def _docstrings() -> Iterator[tuple[str, str, str]]:
    listed = subprocess.run(
        ["git", "ls-files", "*/test_*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for file in filter(lambda name: (ROOT / name).exists(), listed.stdout.split()):
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield file, node.name, ast.get_docstring(node) or ""


def rows() -> list[Row]:
    """Every row, in the order of their numbers."""
    found = []
    for file, name, docstring in docstrings():
        if row := re.match(r"(T\d{2,}(?:, T\d{2,})*): (.+)", docstring):
            numbers = map(int, re.findall(r"\d+", row[1]))
            found += [Row(number, row[2], f"{file}::{name}") for number in numbers]
    return sorted(found)


if __name__ == "__main__":
    print(*rows(), sep="\n")  # noqa: T201 -- what it is for
