"""pgBackRest as deploy/pgbackrest has it, with a repository of its own."""

from configparser import ConfigParser
from pathlib import Path
from urllib.parse import urlsplit

from tests.postgres import Cluster

_FILES = Path(__file__).resolve().parents[1] / "deploy" / "pgbackrest"
_STANZA = "tripcompanion"


class PgBackRest:
    """Its configuration and its repository are in `home`."""

    def __init__(self, home: Path) -> None:
        self.home, self.config = home, home / "pgbackrest.conf"

    def configure(self, cluster: Cluster) -> None:
        """Write the documented configuration with the paths of this cluster."""
        given = ConfigParser()
        given.read(_FILES / "pgbackrest.conf")
        given[_STANZA] = {
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
        documented = (_FILES / "postgresql.conf").read_text()
        program = f"pgbackrest --config={self.config}"
        socket = f"unix_socket_directories = '{self.home}'\n"
        return socket + documented.replace("'pgbackrest", f"'{program}")

    def run(self, cluster: Cluster, *arguments: str) -> None:
        cluster.call("pgbackrest", f"--config={self.config}", f"--stanza={_STANZA}", *arguments)
