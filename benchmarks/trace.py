"""Counts how often a request moves between files of the project: `make trace`.

It counts the calls from a function in one file of the project to a function in another, without
calls inside Django, DRF and other packages: the jumps of a reader who follows the request through
the code. It also reports the number with `tripcompanion/compiled/` counted as one file.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from django.core.management import call_command

from benchmarks.client import Request
from benchmarks.profiling import call

ROOT = Path(__file__).resolve().parent.parent
_APPS = tuple(
    f"{ROOT / name}/" for name in ("tripcompanion", "users", "trips", "splits", "plugins")
)
_COMPILED = "tripcompanion/compiled/"
_PASSWORD = "four-green-suitcases"
#: How often each request is measured: the least counts, without what happens now and then.
_TIMES = 3


class Moves:
    """Counts moves between files while it is installed as a profile function."""

    def __init__(self) -> None:
        self.found: Counter[tuple[str, str]] = Counter()
        self._stack: list[str | None] = []

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "return":
            if self._stack:
                self._stack.pop()
            return
        if event != "call":
            return
        path = frame.f_code.co_filename
        before = self._stack[-1] if self._stack else None
        if path.startswith(_APPS):
            here = str(Path(path).relative_to(ROOT))
            if before is not None and before != here:
                self.found[before, here] += 1
            self._stack.append(here)
        else:
            self._stack.append(before)

    @property
    def files(self) -> set[str]:
        return {path for pair in self.found for path in pair}

    def as_one(self, folder: str) -> int:
        """The number of moves, with all files of a folder counted as one."""
        return sum(
            count
            for (before, after), count in self.found.items()
            if not (before.startswith(folder) and after.startswith(folder))
        )


def traced(request: Request) -> Moves:
    """The moves of one request; ends the program if it fails."""
    moves = Moves()
    sys.setprofile(moves)
    try:
        answer = call(request)
    finally:
        sys.setprofile(None)
    if answer.status >= 300:
        raise SystemExit(f"{request.method} {request.path}: {answer.status}")
    return moves


def requests() -> Iterator[tuple[str, list[Request]]]:
    """The measured requests, each a few times, on a trip with two members in a new database."""
    call_command("migrate", verbosity=0)
    people = [_registered(f"{name}@example.com") for name in ("olga", "ed")]
    (token, olga), (_token, ed) = people
    trip = {"title": "Lisbon", "destination": "Lisbon", "startDate": "2026-05-14"}
    trip_id = _data("POST", "/api/trips", token, {**trip, "endDate": "2026-05-18"})["id"]
    path = f"/api/trips/{trip_id}"
    _data("POST", f"{path}/members", token, {"userId": ed, "role": "EDITOR"})
    expense = {
        "description": "Boat",
        "amount": 62.53,
        "expenseDate": "2026-05-14",
        "splitType": "EQUAL",
        "participantUserIds": [olga, ed],
    }
    splits = []
    for _time in range(1 + _TIMES):
        made = _data("POST", f"{path}/expenses", token, expense)["splits"]
        splits += [split for split in made if not split["paid"]]
    paths = [f"/api/expenses/{split['expenseId']}/splits/{split['id']}/pay" for split in splits]
    # The first request compiles, the others use it.
    _data("PUT", paths.pop(), token)
    records = [Request("POST", f"{path}/expenses", token, expense)] * _TIMES
    yield "POST /api/trips/{tripId}/expenses", records
    pays = [Request("PUT", each, token) for each in paths]
    yield "PUT /api/expenses/{expenseId}/splits/{splitId}/pay", pays


def _registered(email: str) -> tuple[str, int]:
    body = {"email": email, "password": _PASSWORD}
    answer = _data("POST", "/api/users/register", None, body)
    return answer["token"], answer["user"]["id"]


def _data(method: str, path: str, token: str | None, body: Any = None) -> Any:
    answer = call(Request(method, path, token, body))
    if answer.status >= 300:
        raise SystemExit(f"{method} {path}: {answer.status} {answer.body!r}")
    return answer.data


def main() -> None:
    """Print a line for each request and, with `--pairs`, for each pair of files."""
    for name, repeats in requests():
        moves = min(map(traced, repeats), key=lambda moves: moves.found.total())
        sys.stdout.write(
            f"{name}: {len(moves.files)} files, {moves.found.total()} moves, "
            f"{moves.as_one(_COMPILED)} with the compiled layer as one file\n"
        )
        for (before, after), count in moves.found.most_common() if "--pairs" in sys.argv else ():
            sys.stdout.write(f"  {count:4} {before} > {after}\n")


if __name__ == "__main__":
    main()
