"""Every command of every document is run where the document says, or there is a reason why not."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from plugins.exchange.tests import samples
from tests.checkout import make, newcomers_checkout, shell
from tests.document import ROOT

pytestmark = pytest.mark.once

#: The documents whose commands `tests/test_readme.py` runs against the service of `make run`; of
#: the README only the tour.
PLAYED = ("docs/assistants.md", "docs/changes.md", "docs/roles.md", "docs/tour.md")
TOUR = "## A tour with curl"
#: What this file runs, one after the other, in a checkout that `make run` has served.
DEVELOPMENT = {
    ("docs/front-end.md", "make run"),
    ("docs/splitwise.md", "export SPLITWISE_API=true"),
    ("docs/webhooks.md", "WEBHOOKS_ALLOW_PRIVATE=true make run"),
    ("docs/webhooks.md", "WEBHOOKS_ALLOW_PRIVATE=true .venv/bin/python manage.py"),
}
#: And in one with the `.env` that the first command writes.
PRODUCTION = {
    ("docs/operate.md", "(umask 077"),
    ("docs/operate.md", "make serve"),
    ("docs/operate.md", ".venv/bin/python manage.py send_mail_queue"),
    ("docs/operate.md", ".venv/bin/python manage.py record_recurring"),
    ("docs/operate.md", ".venv/bin/python manage.py deliver_webhooks"),
    ("docs/operate.md", ".venv/bin/python manage.py process_attachments"),
    ("docs/operate.md", "openssl genpkey"),
}
DOCKER = "needs Docker; `make compose` runs the same"
HOST = "changes a host, as root"
CITUS = "needs Citus; see TEST_CITUS_URL in CONTRIBUTING.md"
LONG = "takes minutes and measures"
NOT_RUN: Mapping[tuple[str, str], str] = {
    ("README.md", "git clone"): "`.ci/run` does, with an own address",
    ("benchmarks/README.md", "make bench"): LONG,
    ("benchmarks/README.md", ".venv/bin/python -m benchmarks."): LONG,
    ("chaos/README.md", "make c"): LONG,
    ("clients/README.md", "npx openapi-typescript"): "`make clients` runs the same",
    ("clients/typescript/README.md", "npm install"): "needs Node.js and a folder of one's own",
    ("deploy/README.md", "DATABASE_URL=postgres://user@coordinator"): CITUS,
    ("deploy/README.md", "COMPOSE_PROFILES=citus"): CITUS,
    ("deploy/README.md", "echo 'set server"): "needs HAProxy and systemd; `make cluster` drains",
    ("deploy/README.md", "apt-get install"): HOST,
    ("deploy/README.md", "systemctl stop"): "stops a server; `tests/test_recovery.py` restores",
    ("deploy/README.md", "cp -r deploy/systemd"): HOST,
    ("deploy/README.md", "kubectl"): "needs Kubernetes",
    ("docs/front-end.md", "python3 -m http.server"): "`tests/test_example_page.py` has the port",
    ("docs/operate.md", "docker compose"): DOCKER,
    ("docs/operate.md", "COMPOSE_PROFILES=jobs"): DOCKER,
    ("docs/operate.md", "git pull"): DOCKER,
    ("docs/operate.md", "OTEL_EXPORTER"): "are lines of `.env`",
    ("docs/operate.md", "ATTACHMENTS_STORE"): "are lines of `.env`",
    (
        "docs/operate.md",
        "DATABASE_URL=sqlite",
    ): "needs PostgreSQL; see plugins/exchange/tests/test_moving.py",
    ("docs/splitwise.md", "# After"): "`tests/test_readme.py` does",
    ("docs/webhooks.md", "api "): "`tests/test_readme.py` does",
}


def blocks(document: str) -> list[str]:
    """The commands of a document."""
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)


def the_one(document: str, beginning: str) -> str:
    [block] = [block for block in blocks(document) if block.startswith(beginning)]
    return block


def test_every_command_is_run_or_has_a_reason() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = {(document, block) for document in listed.stdout.split() for block in blocks(document)}
    known = {*DEVELOPMENT, *PRODUCTION, *NOT_RUN}
    tour = (ROOT / "README.md").read_text().partition(TOUR)[2].partition("\n## ")[0]
    for document, block in found:
        is_known = document in PLAYED or (document == "README.md" and block in tour)
        is_known |= any(
            document == known_document and block.startswith(beginning)
            for known_document, beginning in known
        )
        assert is_known, f"{document}: {block}"
    for document, beginning in known:
        assert any(
            document == in_document and block.startswith(beginning) for in_document, block in found
        ), f"{document} has no {beginning}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that `make run` has served."""
    checkout = newcomers_checkout(tmp_path_factory.mktemp("served") / "project")
    assert make(checkout, "run").returncode == 0
    return checkout


def imports() -> list[str]:
    """The arguments of the commands in *Coming from another service*."""
    rows = re.findall(r"^\| .* \| .* \| (`.*`) \|$", (ROOT / "README.md").read_text(), re.M)
    return [found for row in rows for found in re.findall(r"`(\S+\.(?:csv|json)[^`]*)`", row)]


FILES = {
    "alps_2026-05-04_export.csv": samples.SPLITWISE_CSV,
    "expenses.json": samples.SPLITWISE_API,
    "spliit.json": samples.SPLIIT_JSON,
    "alps-bills.json": samples.IHATEMONEY_JSON,
    "alps.csv": samples.COSPEND_CSV,
    "alps.json": samples.ABRECHNUNG,
    "ben.csv": samples.SPLITPRO_CSV,
    "transactions.csv": samples.SETTLE_UP,
    "registry.json": samples.TRICOUNT,
}


def test_a_group_of_each_service_is_imported_as_printed(served: Path) -> None:
    assert sorted(one.split()[0] for one in imports()) == sorted(FILES)
    command = r"`(\.venv/bin/python manage\.py import_trip)` … `([^`]*)`"
    [(before, after)] = re.findall(command, (ROOT / "README.md").read_text())
    for arguments in imports():
        name = arguments.split()[0]
        (served / name).write_text(FILES[name])
        done = shell(served, f"{before} {arguments} {after}")
        assert "Recorded in trip" in done.stdout, done.stdout


@pytest.mark.slow
def test_commands_for_development_work_after_make_run(served: Path) -> None:
    port = {"PORT": "0"}
    assert "serving" in make(served, "run", WEBHOOKS_ALLOW_PRIVATE="true").stdout
    for document, beginning in sorted(DEVELOPMENT):
        block = the_one(document, beginning)
        if "make run" not in block:
            # Without `--watch` they end.
            shell(served, block.replace(" --watch", ""), **port)
    [command] = re.findall(
        r"`(\S*python manage\.py process_attachments) --watch`",
        (ROOT / "docs" / "front-end.md").read_text(),
    )
    shell(served, command)


@pytest.mark.slow
@pytest.mark.needs("openssl")
def test_commands_for_production_work_with_the_settings_of_production(tmp_path: Path) -> None:
    checkout = newcomers_checkout(tmp_path / "project")
    shell(checkout, the_one("docs/operate.md", "(umask 077"))
    assert make(checkout, "serve").stdout.endswith("serving with DEBUG=false\n")
    for document, beginning in sorted(PRODUCTION):
        if beginning not in {"(umask 077", "make serve"}:
            block = the_one(document, beginning).replace(" --watch", "")
            shell(checkout, block, EMAIL_URL="console://")
