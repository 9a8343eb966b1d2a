"""Queues that accounts share take turns, so that nobody waits for all that another one has."""

from collections import deque
from typing import Any

from django.db.models import QuerySet

#: Of how many rows that were taken last the owners come after everybody else.
BATCH = 100


class Turns:
    """Takes rows of a queue for one worker; `owner` is the column with whose they are."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._served: deque[Any] = deque(maxlen=BATCH)
        self._alone = 0

    def next(self, rows: QuerySet[Any, Any]) -> Any:
        """The first of the ordered `rows` whose owner is not among those of the last `BATCH`.

        If all are theirs, the first one; None if there is none. To find that out reads all rows, so
        a whole batch is taken before the next attempt.
        """
        row = None
        if self._alone:
            self._alone -= 1
        elif (row := rows.exclude(**{f"{self._owner}__in": set(self._served)}).first()) is None:
            self._alone = BATCH
        row = row or rows.first()
        if row is not None:
            self._served.append(getattr(row, self._owner))
        return row
