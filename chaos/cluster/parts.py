"""The parts of `make cluster`. Each starts machines of its own and returns the rows of the table.

The first line of a docstring is the title of the part. A part raises `Failed` if the cluster does
not do what the docstring says, and `LookupError` if a program that it needs is not installed.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

from chaos.cluster.probe import probing
from chaos.cluster.report import Row, compared
from chaos.cluster.site import Site, pooled, primary, run, site, standby, wait_until
from chaos.environment import Failed
from chaos.followers import answers_of, following, require_all_told
from chaos.service import ROOT
from chaos.writers import Journal, Scene, writing
from tests.own_rows import see_only_what_is_mine
from tests.postgres import Cluster
from tests.releases import previous_release

#: Clients that read their own rows, and their rounds; a page has at most 100 expenses.
_READERS = 8
_ROUNDS = 20
_POOL_SIZE = 10
_SCENES = 20
#: How many times as long a probe may take in an overload as without load.
_MOST_TIMES = 30
#: Accounts with five streams each.
_FOLLOWING = 8


class Size(NamedTuple):
    """How much the parts do."""

    #: Through the pooler.
    statements: int
    #: While hosts are replaced.
    requests: int
    #: In an overload.
    writers: int
    #: Before and after a fault.
    seconds: float


FULL = Size(statements=100_000, requests=10_000, writers=200, seconds=10)
SHORT = Size(statements=3_000, requests=300, writers=40, seconds=2)


def pooler(size: Size) -> list[Row]:
    """Two hosts share a pool of ten connections in transaction mode.

    No request fails, and every statement returns the rows of its own client.
    """
    with primary() as cluster, pooled(cluster, _POOL_SIZE) as url:
        with (
            site(url, DATABASE_POOLER="transaction") as running,
            _writing(running) as (journal, scene),
        ):
            while _statements(url) < size.statements:
                _read_own_rows(running, 1)
            count = _statements(url)
        row = compared("", journal, [scene], running.hosts[0], cluster.url)
        row.require_none("lost", "duplicated", "failed")
        return [row.remarked(f"{count:,} statements, none misdirected")]


def _read_own_rows(running: Site, requests: int) -> int:
    """At least so many requests of clients that check every row; returns how many it were.

    Raises `AssertionError` if an answer is outdated, or has a row of another client.
    """
    done = 0
    while done < requests:
        url, trust = running.proxy.url, running.proxy.trust
        with ThreadPoolExecutor(_READERS) as threads:
            readers = [
                threads.submit(see_only_what_is_mine, url, _ROUNDS, trust)
                for _reader in range(_READERS)
            ]
        done += sum(reader.result() for reader in readers)
    return done


def _statements(url: str) -> int:
    """How many statements the pooler has passed on."""
    console = urlsplit(url)._replace(path="/pgbouncer", query="").geturl()
    with psycopg.connect(console, autocommit=True) as connection:
        cursor = connection.execute("SHOW STATS")
        names = [column.name for column in cursor.description or ()]
        return sum(row[names.index("total_query_count")] for row in cursor.fetchall())


def deploy(size: Size) -> list[Row]:
    """Hosts are drained and replaced in turn under load.

    No request fails.
    """
    with primary() as cluster, site(cluster.url) as running:
        deployed = 0
        with _writing(running) as (journal, scene):
            while sum(journal.answers.values()) < size.requests or not deployed:
                running.deploy(deployed % 2)
                deployed += 1
        row = compared("", journal, [scene], running.hosts[0], cluster.url)
        row.require_none("lost", "duplicated", "failed")
        return [row.remarked(f"{deployed} hosts replaced")]


def streams(size: Size) -> list[Row]:
    """Each host is drained and replaced under clients that follow a trip.

    The streams of a host end with a hint, none is cut off, and all clients are told of each change.
    """
    with primary() as cluster, site(cluster.url) as running:
        scene = Scene.make(running.proxy.url, running.proxy.trust)
        with following(scene, _FOLLOWING) as followers:
            with writing(scene, writers=1, timeout_seconds=60) as journal:
                for number in range(len(running.hosts)):
                    running.deploy(number)
                time.sleep(size.seconds / 2)
            waited = require_all_told(followers, journal)
            answers = answers_of(followers)
        if answers.keys() != {200} or answers[200] == len(followers):
            raise Failed(f"{len(followers)} followers got {answers}")
        row = compared("", journal, [scene], running.hosts[0], cluster.url)
        row.require_none("lost", "duplicated", "failed")
        came = f"{len(followers)} streams came back {answers[200] - len(followers)} times"
        return [row.remarked(f"{came}; all know all {waited:.1f} s after the last write")]


def mixed(size: Size) -> list[Row]:
    """The previous release and this version write to one database.

    No request fails, and neither audit finds a difference.
    """
    with TemporaryDirectory() as folder, primary() as cluster:
        if not previous_release(Path(folder)):
            raise LookupError("the history does not have the previous release")
        with site(cluster.url, roots=[Path(folder), ROOT]) as running:
            with _writing(running) as (journal, scene):
                time.sleep(2 * size.seconds)
            rows = [compared("", journal, [scene], host, cluster.url) for host in running.hosts]
        for row in rows:
            row.require_none("lost", "duplicated", "failed")
        return rows[:1]


def failover(size: Size) -> list[Row]:
    """The primary fails, and a standby takes over; first with synchronous replication.

    With synchronous replication no acknowledged write is lost. Without it, the table says how many.
    """
    lossless = _failed_over("synchronous", size, synchronous=True)
    lossless.require_none("lost", "duplicated")
    other = _failed_over("asynchronous", size, synchronous=False)
    other.require_none("duplicated")
    return [lossless, other]


def _failed_over(title: str, size: Size, *, synchronous: bool) -> Row:
    with primary() as cluster, standby(cluster, "one") as one, standby(cluster, "two") as two:
        if synchronous:
            run(cluster.url, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (one, two)'")
            run(cluster.url, "SELECT pg_reload_conf()")
        with site(_url_of_all(cluster, one, two)) as running:
            with _writing(running) as (journal, scene):
                time.sleep(size.seconds)
                cluster.stop("immediate")
                stopped = time.monotonic()
                newest = max((one, two), key=_received)
                newest.promote()
                journal.mark()
                wait_until(lambda: any(_since(journal, stopped)), "a write after the failover")
                time.sleep(size.seconds)
            row = compared(title, journal, [scene], running.hosts[0], newest.url)
    return row.remarked(f"{journal.worst_recovery_ms / 1000:.1f} s until the next write")


def _url_of_all(*clusters: Cluster) -> str:
    """A URL with all servers, of which the one that accepts writes is used."""
    url = urlsplit(clusters[0].url)
    hosts = ",".join(f"127.0.0.1:{urlsplit(one.url).port}" for one in clusters)
    netloc = f"{url.netloc.rpartition('@')[0]}@{hosts}"
    return url._replace(netloc=netloc, query="target_session_attrs=read-write").geturl()


def _received(server: Cluster) -> int:
    """How much of the primary's log this standby has, in bytes."""
    return int(run(server.url, "SELECT pg_last_wal_receive_lsn() - '0/0'")[0][0])


def _since(journal: Journal, moment: float) -> Iterator[float]:
    return (one.acknowledged or 0 for one in journal.acknowledged if one.started > moment)


def overload(size: Size) -> list[Row]:
    """More clients write than the hosts can serve.

    The proxy takes no host out, 99 % of the probes take less than 30 times as long as without load,
    and each write succeeds in the end: what a host cannot serve within two seconds, it refuses with
    503.
    """
    with primary() as cluster, site(cluster.url) as running:
        urls = [host.url for host in running.hosts]
        with probing(urls) as before:
            time.sleep(size.seconds / 2)
        idle_ms = before.quantile_ms(0.5)
        scenes = [Scene.make(running.proxy.url, running.proxy.trust) for _trip in range(_SCENES)]
        writers = size.writers // _SCENES
        with (
            probing(urls) as probes,
            writing(*scenes, writers=writers, timeout_seconds=60) as journal,
        ):
            time.sleep(2 * size.seconds)
        row = compared("", journal, scenes, running.hosts[0], cluster.url)
        row.require_none("lost", "duplicated")
        if row.acknowledged < len(journal.intents) or set(journal.answers) - {201, 503}:
            raise Failed(f"{len(journal.intents)} writes were begun: {dict(journal.answers)}")
        if times := running.times_down():
            raise Failed(f"the proxy took a host out {times} times")
        slow_ms = probes.quantile_ms(0.99)
        said = (
            f"p99 {slow_ms:.0f} ms of {len(probes.times_ms)} probes, {idle_ms:.1f} ms without load"
        )
        if slow_ms >= _MOST_TIMES * idle_ms:
            raise Failed(said)
        return [row.remarked(f"{writers * _SCENES} writers, {said}")]


@contextmanager
def _writing(running: Site) -> Iterator[tuple[Journal, Scene]]:
    """Run eight writers through the proxy; yields their journal, and the trip they write to."""
    scene = Scene.make(running.proxy.url, running.proxy.trust)
    with writing(scene, timeout_seconds=60) as journal:
        yield journal, scene


Part = Callable[[Size], list[Row]]
PARTS: dict[str, Part] = {
    part.__name__: part for part in (pooler, deploy, streams, mixed, failover, overload)
}
