"""The environment that a fault runs in, and the row that reports its effect."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import psycopg

from chaos.service import Service, running
from chaos.writers import Journal, Scene, writing
from tests.postgres import Cluster

_STORED = (
    "SELECT description FROM splits_expense WHERE trip_id = ?"
    " UNION ALL SELECT note FROM splits_settlement WHERE trip_id = ?"
)


class Row(NamedTuple):
    """One row of the table."""

    fault: str
    requests: int
    acknowledged: int
    stored: int
    lost: int
    duplicated: int
    recovery_ms: float
    worst_ms: float
    audit: str
    remarks: str

    @property
    def is_good(self) -> bool:
        return not self.lost and not self.duplicated and self.audit == "silent"


class Failed(Exception):
    """The service did not handle the fault; the text says how."""


@dataclass
class Environment:
    """The service, its database, and the trip that the writers write to."""

    service: Service
    scene: Scene
    #: None on SQLite.
    cluster: Cluster | None
    seconds: float
    remarks: list[str]

    @contextmanager
    def load(self, **options: Any) -> Iterator[Journal]:
        """Run writers for some time before, during and after the fault; yields their journal."""
        with writing(self.scene, **options) as journal:
            time.sleep(self.seconds / 4)
            yield journal
            time.sleep(self.seconds / 4)
        self.journal = journal

    @contextmanager
    def other_service(self, **settings: str) -> Iterator[Service]:
        """Have a service with other settings on the same database instead, during the block."""
        own, own_url = self.service, self.scene.url
        # The tokens are valid there too, because the key is the same.
        settings["SECRET_KEY"] = own.environment["SECRET_KEY"]
        with running(own.environment["DATABASE_URL"], **settings) as service:
            self.service, self.scene.url = service, service.url
            try:
                yield service
            finally:
                self.service, self.scene.url = own, own_url

    def note(self, remark: str) -> None:
        self.remarks.append(remark)

    def require(self, condition: bool, remark: str) -> None:
        """Raise `Failed` with `remark` unless the condition holds."""
        if not condition:
            raise Failed(remark)

    def require_live(self) -> None:
        """Check for some seconds that `/api/health` answers, and note the slowest response."""
        # Longer than any lock timeout.
        until, slowest = time.monotonic() + max(self.seconds, 4), 0.0
        while time.monotonic() < until:
            started = time.monotonic()
            self.require(self.service.status("/api/health") == 200, "not live")
            slowest = max(slowest, time.monotonic() - started)
            time.sleep(0.2)
        self.note(f"slowest health {slowest * 1000:.0f} ms")

    def database(self) -> Any:
        """A direct database connection in autocommit mode."""
        if self.cluster is None:
            raise Failed("this environment has no PostgreSQL")
        url = self.service.environment["DATABASE_URL"]
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def row(self, title: str, journal: Journal) -> Row:
        """Compare the journal with the stored rows."""
        stored = Counter(self.stored_keys())
        keys = [intent.key for intent in journal.acknowledged]
        lost = sum(1 for key in keys if not stored[key])
        tried = {intent.key for intent in journal.intents}
        doubles = sum(1 for key in tried if stored[key] > 1)
        audit = self.service.manage("audit_ledger")
        if journal.unexpected:
            raise Failed(f"unexpected answers: {json.dumps(journal.unexpected)}")
        if not keys:
            raise Failed("nothing was acknowledged")
        return Row(
            title,
            sum(journal.answers.values()),
            len(keys),
            sum(1 for key in tried if stored[key]),
            lost,
            doubles,
            journal.worst_recovery_ms,
            journal.worst_intent_ms,
            "silent" if audit.returncode == 0 else f"exit {audit.returncode}",
            "; ".join(self.remarks),
        )

    def stored_keys(self) -> list[str]:
        """The keys of the writes that the database of the service has."""
        trip_ids = [self.scene.trip_id] * 2
        url = self.service.environment["DATABASE_URL"]
        if self.cluster is None:
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                return [key for (key,) in connection.execute(_STORED, trip_ids)]
        with self.database() as connection:
            stored = connection.execute(_STORED.replace("?", "%s"), trip_ids)
            return [key for (key,) in stored]


Play = Callable[[Environment], Journal]
