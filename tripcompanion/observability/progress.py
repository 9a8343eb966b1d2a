"""How far a command has come: a bar in a terminal, and otherwise lines in a log."""

import sys
from collections.abc import Iterable, Iterator
from threading import Event, Thread
from time import monotonic
from typing import Any, Self, TextIO, TypeVar

from tqdm import tqdm

Row = TypeVar("Row")

#: How often a line is written. A command that takes less time writes none.
SECONDS = 10.0


class Progress:
    """Writes what the command does, and for how long, every `SECONDS` while it is entered.

    It says `step` while no rows pass. In a terminal, a bar shows rows that pass.
    """

    def __init__(self, step: str, to: TextIO | Any = None) -> None:
        self._step, self._to, self._began = step, to or sys.stderr, monotonic()
        self._ended, self._thread = Event(), Thread(target=self._write_lines, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def __call__(
        self,
        rows: Iterable[Row],
        /,
        *,
        desc: str = "",
        total: int | None = None,
        unit: str = "rows",
    ) -> Iterator[Row]:
        """`rows`, of which `total` are expected, unchanged."""
        before, what = self._step, f"{desc} {unit}".strip()
        try:
            if self._to.isatty():
                self._step = ""
                yield from tqdm(rows, desc=desc, total=total, unit=f" {unit}", leave=False)
                return
            of = "" if total is None else f" of {total}"
            for count, row in enumerate(rows, start=1):
                self._step = f"{before}, {what}: {count}{of}"
                yield row
        finally:
            self._step = before

    def _write_lines(self) -> None:
        while not self._ended.wait(SECONDS):
            if step := self._step:
                self._to.write(f"{step} ({monotonic() - self._began:.0f} s)\n")
                self._to.flush()
