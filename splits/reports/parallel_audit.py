"""The audit in several processes, which all read one snapshot of PostgreSQL.

The arithmetic of an audit takes longer than its statements, so one process cannot use more than one
processor.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import django
from django.db import connection

from splits.reports.audit import Difference, audited, differences
from tripcompanion.database.snapshots import snapshot

#: More than processes, so that none is left with the largest trips at the end.
_RANGES_PER_PROCESS = 4


def differences_in_processes(processes: int) -> Iterator[Difference]:
    """Every difference in the ledger, like `differences`. Call it in a snapshot on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        [name] = cursor.fetchone()
    # A forked process would share this connection.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=django.setup)
    try:
        ranges = _ranges(processes * _RANGES_PER_PROCESS)
        running = [pool.submit(differences_as_of, name, trips) for trips in ranges]
        for one in as_completed(running):
            yield from one.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _ranges(count: int) -> list[range]:
    """All trips as ranges of ids, with about the same number of trips in each."""
    ids = list(audited().order_by("pk").values_list("pk", flat=True))
    step = -(-len(ids) // count)
    firsts = ids[::step] if ids else []
    ends = [*firsts[1:], ids[-1] + 1] if ids else []
    return [range(first, end) for first, end in zip(firsts, ends, strict=True)]


def differences_as_of(name: str, trips: range) -> list[Difference]:
    """The differences in these trips, as the exported snapshot `name` shows them."""
    with snapshot():
        with connection.cursor() as cursor:
            # Must be the first statement of its transaction.
            cursor.execute("SET TRANSACTION SNAPSHOT %s", [name])
        return list(differences(trips))
