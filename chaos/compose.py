"""`make compose`: docker-compose.yml in real containers, with the commands of the documents.

Nothing has the names or ports of another project on the machine, and everything is removed at the
end. The exit status is 1 if a part does not do what its docstring says, and 77 if there is no
container engine.
"""

import argparse
import os
import re
import secrets
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx
import yaml

from chaos.environment import Failed
from chaos.outcome import concluded, say
from chaos.service import ROOT
from chaos.writers import Journal, Scene, writing
from tests.releases import previous_release
from tests.server import free_port

_SKIPPED = 77
_WAIT_SECONDS = 120
_LOAD_SECONDS = 5
_COMPOSE = os.environ.get("COMPOSE") or "docker compose"
_CITUS = "citusdata/citus:13.2"
_CERTIFICATE = "/data/caddy/pki/authorities/local/root.crt"
#: What the log of each job says when it has succeeded. The job `rates` needs the internet.
_JOBS = {"prune": "deleted trips", "audit": "no difference", "backup": r"/backups/\S+\.dump"}
_STORED = "SELECT description FROM splits_expense UNION ALL SELECT note FROM splits_settlement"

Found = TypeVar("Found")


class Project:
    """A checkout in `folder`, and its containers."""

    def __init__(self, folder: Path, extra: str, **settings: str) -> None:
        self.folder, self._extra = folder, extra
        self.name = f"tripcompanion-{secrets.token_hex(4)}"
        self._port = free_port()
        self._settings = {
            "SECRET_KEY": secrets.token_hex(32),
            "POSTGRES_PASSWORD": secrets.token_hex(32),
            "NUM_PROXIES": "1",
            "THROTTLE_USER": "",
            **settings,
        }
        # Any other variable would take precedence over .env.
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name in {"HOME", "PATH"} or name.startswith("DOCKER_")
        }
        self._environment["COMPOSE_PROJECT_NAME"] = self.name
        self._images: list[str] = []

    def check_out_previous(self) -> None:
        self.folder.mkdir()
        if not previous_release(self.folder):
            raise LookupError("the history does not have the previous release")
        self._configure("previous")

    def check_out(self) -> None:
        """Replace the files by those of this working tree."""
        shutil.rmtree(self.folder, ignore_errors=True)
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, names.split("\0")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        self._configure("this")

    def _configure(self, release: str) -> None:
        """Write .env, and a compose file with names and ports of their own."""
        lines = [f"{name}={value}\n" for name, value in self._settings.items()]
        (self.folder / ".env").write_text("".join(lines))
        image = f"{self.name}:{release}"
        self._images.append(image)
        services = yaml.safe_load((self.folder / "docker-compose.yml").read_text())["services"]
        own = ["services:\n"]
        for name, service in services.items():
            port = f'"127.0.0.1:{self._port}:443"' if name == "caddy" else ""
            own.append(f"  {name}:\n    ports: !override [{port}]\n")
            own += [f"    image: {image}\n"] if "build" in service else []
        (self.folder / "own.yml").write_text("".join(own))
        files = filter(None, ["docker-compose.yml", "own.yml", self._extra])
        self._environment["COMPOSE_FILE"] = os.pathsep.join(files)

    def run(self, commands: str) -> str:
        """The output of shell commands in the checkout; raises `Failed` unless all succeed."""
        done = subprocess.run(
            ["sh", "-ec", commands.replace("docker compose", _COMPOSE)],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            said = "\n".join(done.stdout.splitlines()[-20:])
            raise Failed(f"status {done.returncode} of:\n{commands.strip()}\n{said}")
        return done.stdout

    def run_documented(self, document: str, after: str) -> None:
        """Run the first block of shell commands after that text of a document."""
        text = (ROOT / document).read_text().partition(after)[2]
        [commands] = re.findall(r"```sh\n(.*?)^```$", text, re.M | re.S)[:1]
        # The files are here already; HTTPS is needed with every profile.
        self.run(commands.replace("git pull\n", "").replace("=citus ", "=citus,https "))

    def audit(self) -> None:
        self.run("docker compose exec -T web python manage.py audit_ledger")

    def scene(self) -> Scene:
        """Four people who have registered over HTTPS, and their trip."""
        read = f"docker compose exec -T caddy cat {_CERTIFICATE}"
        certificate = eventually(lambda: self.run(read))
        trust = ssl.create_default_context(cadata=certificate)
        url = f"https://localhost:{self._port}"
        ready = f"{url}/api/health/ready"
        eventually(lambda: httpx.get(ready, verify=trust).raise_for_status())
        return Scene.make(url, trust)

    def require_stored(self, journal: Journal) -> None:
        """Check that each acknowledged write is stored once, and no other more than once."""
        stored = self.stored()
        lost = sum(1 for intent in journal.acknowledged if not stored[intent.key])
        twice = sum(1 for intent in journal.intents if stored[intent.key] > 1)
        if lost or twice or journal.unexpected or not journal.acknowledged:
            count = len(journal.acknowledged)
            raise Failed(f"{count} acknowledged: {lost} lost, {twice} twice, {journal.unexpected}")
        self.audit()

    def stored(self) -> Counter[str]:
        psql = f'psql -U tripcompanion -At -c "{_STORED}"'
        host = self._settings.get("POSTGRES_HOST", "postgres")
        return Counter(self.run(f"docker compose exec -T {host} {psql}").split())

    def remove(self) -> None:
        """End the containers; check that nothing is left of them."""
        if not self._images:
            return
        self.run("docker compose --profile '*' down --volumes --timeout 35")
        for image in self._images:
            self.run(f"docker image rm --force {image}")
        kinds = ("ps --all", "volume ls", "network ls")
        mine = f"--quiet --filter label=com.docker.compose.project={self.name}"
        left = [kind for kind in kinds if self.run(f"docker {kind} {mine}")]
        if left:
            raise Failed(f"there is still something in: {left}")


def eventually(look: Callable[[], Found]) -> Found:
    """What `look` returns once it succeeds."""
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            return look()
        except (Failed, httpx.HTTPError):
            if time.monotonic() > until:
                raise
            time.sleep(1)


@contextmanager
def loaded(scene: Scene) -> Iterator[Journal]:
    """Write for some seconds before and after."""
    with writing(scene) as journal:
        time.sleep(_LOAD_SECONDS)
        yield journal
        time.sleep(_LOAD_SECONDS)


@contextmanager
def step(title: str, rows: list[str]) -> Iterator[None]:
    started = time.monotonic()
    yield
    rows.append(title)
    say(f"{title}: {time.monotonic() - started:.0f} s")


def upgrade(project: Project, rows: list[str]) -> None:
    """The previous release is upgraded under load, and a backup restored."""
    with step("the previous release is built, and people register over HTTPS", rows):
        project.check_out_previous()
        # Without --wait, which Compose 2.26 ended with 1 for it.
        project.run("docker compose up --build --detach")
        scene = project.scene()
    with step("it is upgraded under load", rows):
        with loaded(scene) as journal:
            project.check_out()
            project.run_documented("docs/operate.md", "## Upgrades")
        project.require_stored(journal)
        count, most = len(journal.acknowledged), journal.worst_intent_ms / 1000
        say(f"{count} writes acknowledged, all stored once; the longest took {most:.1f} s")
    with step("the jobs succeed", rows):
        for name, success in _JOBS.items():
            eventually(partial(project.run, f"docker compose logs {name} | grep -E '{success}'"))
    with step("a backup is restored", rows):
        before = project.stored()
        project.run_documented("docs/operate.md", "To back up by hand")
        with loaded(scene) as journal:
            pass
        project.require_stored(journal)
        project.run_documented("docs/operate.md", "manage.py backup /backups\n```\n")
        if project.stored() != before:
            raise Failed("the restored database is not what was backed up")
        with loaded(scene) as journal:
            pass
        project.require_stored(journal)


def citus(project: Project, rows: list[str]) -> None:
    """The tables are distributed to the nodes of Citus."""
    project.check_out()
    available = f"docker image inspect {_CITUS} || docker pull --quiet {_CITUS}"
    try:
        project.run(available)
    except Failed as reason:
        raise LookupError(f"no image {_CITUS}") from reason
    with step("the nodes start, and tables are distributed to them", rows):
        project.run_documented("deploy/citus.md", "the profile `citus` starts")
    with step("people register over HTTPS and write", rows):
        with loaded(project.scene()) as journal:
            pass
        project.require_stored(journal)


PARTS = {
    "upgrade": (upgrade, {"COMPOSE_PROFILES": "https,jobs"}),
    "citus": (citus, {"COMPOSE_PROFILES": "https,citus", "POSTGRES_HOST": "citus-coordinator"}),
}


def missing() -> str | None:
    """Why no container can be started, if so."""
    for command in (["docker", "info"], [*_COMPOSE.split(), "version"]):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except OSError as error:
            return str(error)
        except subprocess.CalledProcessError as error:
            return str(error.stderr).strip() or f"{error}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make compose", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated: upgrade,citus")
    parser.add_argument(
        "--file", default="", help="a compose file to add, such as for other images"
    )
    options = parser.parse_args()
    if reason := missing():
        say(f"Skipped: no container engine with Compose 2.24 or newer. {reason}")
        return _SKIPPED
    extra = str(Path(options.file).resolve()) if options.file else ""
    rows: list[str] = []
    failures, not_run = [], []
    started = time.monotonic()
    for name in options.only.split(","):
        part, settings = PARTS[name]
        say(f"{name}: {part.__doc__}")
        with tempfile.TemporaryDirectory() as folder:
            project = Project(Path(folder, "checkout"), extra, **settings)
            try:
                part(project, rows)
            except Failed as failure:
                failures.append(f"{name}: {failure}")
            except LookupError as reason:
                not_run.append(f"{name}: {reason}")
            finally:
                project.remove()
    return concluded(rows, "steps", started, not_run=not_run, failures=failures)


if __name__ == "__main__":
    sys.exit(main())
