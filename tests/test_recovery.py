"""Point-in-time recovery with pgBackRest, by the files in deploy/pgbackrest."""

import secrets
import shutil
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from tests.clusters import add_trip, homes, new_cluster, run, serving, trips, wait_until
from tests.postgres import Cluster
from tests.server import ROOT

pytestmark = [
    pytest.mark.skipif(
        not settings.DATABASE_URL.startswith("postgres"), reason="SQLite has no such log"
    ),
    pytest.mark.skipif(not shutil.which("pgbackrest"), reason="pgBackRest is not installed"),
]
FILES = ROOT / "deploy" / "pgbackrest"
STANZA = "tripcompanion"


class Backup:
    """pgBackRest with a repository of its own in `home`."""

    def __init__(self, home: Path) -> None:
        self.home, self.config = home, home / "pgbackrest.conf"

    def configure(self, cluster: Cluster) -> None:
        """Write the documented configuration with the paths of this cluster."""
        given = ConfigParser()
        given.read(FILES / "pgbackrest.conf")
        given[STANZA] = {
            "pg1-path": str(cluster.home / "data"),
            "pg1-port": str(urlsplit(cluster.url).port),
            "pg1-socket-path": str(cluster.home),
            "pg1-user": "postgres",
        }
        for name in ("repo1-path", "lock-path", "spool-path"):
            given["global"][name] = str(self.home / name)
        given["global"]["log-level-file"] = "off"
        with self.config.open("w") as file:
            given.write(file, space_around_delimiters=False)

    @property
    def server_settings(self) -> str:
        """The documented settings of the server, with this configuration."""
        documented = (FILES / "postgresql.conf").read_text()
        program = f"pgbackrest --config={self.config}"
        socket = f"unix_socket_directories = '{self.home}'\n"
        return socket + documented.replace("'pgbackrest", f"'{program}")

    def run(self, cluster: Cluster, *arguments: str) -> None:
        cluster.call("pgbackrest", f"--config={self.config}", f"--stanza={STANZA}", *arguments)


@pytest.fixture
def home() -> Iterator[Path]:
    with homes(1) as [made]:
        yield made


def test_a_deleted_trip_is_back_at_the_second_before(home: Path) -> None:
    backup, key = Backup(home), {"SECRET_KEY": secrets.token_hex(32)}
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
