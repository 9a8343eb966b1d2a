"""Point-in-time recovery with pgBackRest, by the files in deploy/pgbackrest."""

import secrets
from dataclasses import replace

import pytest

from tests.clusters import add_trip, homes, new_cluster, run, serving, trips, wait_until
from tests.pgbackrest import PgBackRest

pytestmark = [pytest.mark.postgresql, pytest.mark.needs("pgbackrest")]


@pytest.fixture
def home():
    with homes(1) as [made]:
        yield made


@pytest.mark.slow
def test_a_deleted_trip_is_back_at_the_second_before(home):
    backup, key = PgBackRest(home), {"SECRET_KEY": secrets.token_hex(32)}
    with new_cluster(home, backup.server_settings) as cluster:
        backup.configure(cluster)
        backup.run(cluster, "stanza-create")
        backup.run(cluster, "check")
        with serving(cluster.url, **key) as (_server, owner):
            first = add_trip(owner, "first").json()["id"]
            backup.run(cluster, "backup", "--type=full")
            second = add_trip(owner, "second").json()["id"]
            # pgBackRest compares whole seconds.
            run(cluster, "SELECT pg_sleep(1.1)")
            [(moment,)] = run(cluster, "SELECT now()::text")
            owner.done("DELETE", f"/trips/{second}")
            assert trips(owner) == [first]
        run(cluster, "SELECT pg_switch_wal()")
        cluster.stop()

        backup.run(
            cluster, "restore", "--delta", "--type=time", f"--target={moment}",
            "--target-action=promote",
        )  # fmt: skip
        cluster.start()
        wait_until(lambda: run(cluster, "SELECT pg_is_in_recovery()") == [(False,)])
        with serving(cluster.url, **key) as (server, another):
            again = replace(another, id=owner.id, headers=owner.headers)
            assert sorted(trips(again)) == [first, second]
            assert "no difference" in server.manage("audit_ledger").stdout
            assert add_trip(again, "third").status_code == 201
