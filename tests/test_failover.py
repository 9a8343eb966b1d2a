"""Several database servers: a standby takes over, and a COMMIT that no standby confirms."""

import secrets
from urllib.parse import urlsplit

import pytest

from tests.clusters import (
    add_trip,
    homes,
    new_cluster,
    run,
    serving,
    stopped_at_the_end,
    trips,
    wait_until,
)
from tests.document import problem_of

pytestmark = pytest.mark.postgresql


@pytest.fixture
def folders():
    with homes(2) as made:
        yield made


@pytest.fixture
def primary(folders):
    with new_cluster(folders[0]) as cluster:
        yield cluster


@pytest.mark.slow
def test_a_promoted_standby_is_used_without_a_restart(folders, primary):
    with stopped_at_the_end(primary.standby(folders[1])) as standby:
        url = urlsplit(primary.url)
        # The first host is a standby, so it is passed over.
        hosts = f"127.0.0.1:{urlsplit(standby.url).port},127.0.0.1:{url.port}"
        netloc = f"{url.netloc.rpartition('@')[0]}@{hosts}"
        both = url._replace(netloc=netloc, query="target_session_attrs=read-write").geturl()
        with serving(both) as (server, owner):
            first = add_trip(owner, "first").json()["id"]
            wrote = run(primary, "SELECT pg_current_wal_flush_lsn()")[0][0]
            has_it = f"SELECT pg_last_wal_replay_lsn() >= '{wrote}'"
            wait_until(lambda: run(standby, has_it) == [(True,)])

            primary.stop("immediate")
            for _time in range(3):
                lost = add_trip(owner, "second")
                assert lost.status_code == 503
                assert lost.headers["Retry-After"] == "2"
            standby.promote()
            wait_until(lambda: add_trip(owner, "second").status_code == 201)
            assert len(trips(owner)) == 2
            assert first in trips(owner)
            assert "no difference" in server.manage("audit_ledger").stdout
            assert "No migrations to apply" in server.manage("migrate_safely").stdout


def waiting_for_a_standby(primary):
    found = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    return int(run(primary, found)[0][0])


@pytest.mark.slow
def test_a_commit_that_no_standby_confirms_ends_soon_and_says_so(primary):
    with serving(primary.url) as (_server, owner):
        run(primary, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        run(primary, "SELECT pg_reload_conf()")
        wait_until(lambda: run(primary, "SHOW synchronous_standby_names") == [("nobody",)])
        key = secrets.token_hex(8)
        answer = add_trip(owner, key)
        assert problem_of(answer, 503, "outcome_unknown")
        assert answer.headers["Retry-After"] == "2"
        # Nobody waits any longer, with the locks of the transaction.
        wait_until(lambda: waiting_for_a_standby(primary) == 0)
        # On this server it has happened, and a retry finds that out.
        [saved] = trips(owner)
        again = add_trip(owner, key)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")

        run(primary, "ALTER SYSTEM RESET synchronous_standby_names")
        run(primary, "SELECT pg_reload_conf()")
        wait_until(lambda: run(primary, "SHOW synchronous_standby_names") == [("",)])
        again = add_trip(owner, key)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        assert again.json()["id"] == saved
        assert trips(owner) == [saved]
