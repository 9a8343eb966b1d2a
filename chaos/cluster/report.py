"""The table of `make cluster`: what clients were told, and what is stored."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import psycopg

from chaos.environment import Failed
from chaos.service import Service
from chaos.writers import Journal, Scene

_STORED = (
    "SELECT description FROM splits_expense WHERE trip_id = ANY(%s)"
    " UNION ALL SELECT note FROM splits_settlement WHERE trip_id = ANY(%s)"
)


@dataclass(frozen=True)
class Row:
    """What happened in a part. `stored` counts the rows of each intended write, by its key."""

    title: str
    journal: Journal
    stored: Counter[str]
    audit: str
    remarks: str = ""

    @property
    def requests(self) -> int:
        return sum(self.journal.answers.values())

    @property
    def acknowledged(self) -> int:
        return len(self.journal.acknowledged)

    @property
    def lost(self) -> int:
        """Writes that were acknowledged but are not stored."""
        return sum(1 for intent in self.journal.acknowledged if not self.stored[intent.key])

    @property
    def duplicated(self) -> int:
        return sum(1 for intent in self.journal.intents if self.stored[intent.key] > 1)

    @property
    def failed(self) -> int:
        """Responses other than 201, timeouts and closed connections."""
        return self.requests - self.journal.answers[201]

    def require_none(self, *counts: str) -> None:
        """Raise `Failed` if one of these counts is not 0, or if the audit found a difference."""
        found = {name: getattr(self, name) for name in counts if getattr(self, name)}
        if found or self.audit != "silent" or not self.acknowledged:
            answers = dict(self.journal.answers)
            raise Failed(
                f"{found}, {self.acknowledged} acknowledged, audit {self.audit}, {answers}"
            )

    def remarked(self, remarks: str) -> "Row":
        return replace(self, remarks=remarks)

    def __str__(self) -> str:
        stored = sum(1 for intent in self.journal.intents if self.stored[intent.key])
        counts = (self.requests, self.acknowledged, stored, self.lost, self.duplicated, self.failed)
        cells = [self.title, *map(str, counts), self.audit, self.remarks]
        return f"| {' | '.join(cells)} |"


def compared(
    title: str, journal: Journal, scenes: Iterable[Scene], host: Service, database_url: str
) -> Row:
    """Compare the journal with what the database at `database_url` has, and audit it."""
    trips = [scene.trip_id for scene in scenes]
    with psycopg.connect(database_url, autocommit=True) as connection:
        stored = Counter(key for (key,) in connection.execute(_STORED, [trips, trips]))
    status = host.manage("audit_ledger").returncode
    return Row(title, journal, stored, f"exit {status}" if status else "silent")


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    head = (
        "| Part | requests | acknowledged | stored | lost | duplicated | failed | audit "
        "| remarks |\n|---|---:|---:|---:|---:|---:|---:|---|---|"
    )
    return "\n".join([head, *map(str, rows)])
