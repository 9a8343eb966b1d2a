"""Every command of every document is run where the document says, or there is a reason why not."""

import re
import subprocess
from collections.abc import Mapping

import pytest

from tests.checkout import make, newcomers_checkout, shell
from tests.document import ROOT

pytestmark = pytest.mark.once

#: The documents whose commands `test_readme.py` runs against the service of `make run`; of the
#: README only the first requests.
PLAYED = ("docs/assistants.md", "docs/changes.md", "docs/roles.md", "docs/tour.md")
TOUR = "## Who owes whom"
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
    ("docs/signing-keys.md", "openssl genpkey"),
    ("plugins/attachments/README.md", ".venv/bin/python manage.py process_attachments"),
    ("plugins/documents/README.md", ".venv/bin/python manage.py remind_documents"),
    ("plugins/recurring/README.md", ".venv/bin/python manage.py record_recurring"),
    ("plugins/webhooks/README.md", ".venv/bin/python manage.py deliver_webhooks"),
}
DOCKER = "needs Docker; `make compose` runs the same"
HOST = "changes a host, as root"
CITUS = "needs Citus; see TEST_CITUS_URL in CONTRIBUTING.md"
LONG = "takes minutes and measures"
#: Blocks that nothing here runs, by document and reason: how each begins, and how many characters
#: it has. So whoever changes one has to see whether the reason still holds.
NOT_RUN: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("README.md", "`test_installed.py` does, with a wheel"): {"python3 -m venv": 122},
    ("README.md", "needs Docker; `make release` runs it"): {"docker build": 178},
    ("benchmarks/README.md", LONG): {
        "make bench": 555,
        ".venv/bin/python -m benchmarks.importing": 153,
        ".venv/bin/python -m benchmarks.closing": 144,
        ".venv/bin/python -m benchmarks.growth": 84,
        ".venv/bin/python -m benchmarks.itinerary": 63,
        ".venv/bin/python -m benchmarks.waiting": 111,
        ".venv/bin/python -m benchmarks.searching": 118,
    },
    ("chaos/README.md", LONG): {"make chaos": 233, "make cluster": 219},
    ("clients/README.md", "`make clients` runs the same"): {"npx openapi-typescript": 228},
    ("clients/typescript/README.md", "needs a folder of one's own"): {"npm install": 70},
    ("deploy/README.md", DOCKER): {"docker compose config": 73},
    ("deploy/citus.md", CITUS): {
        "DATABASE_URL=postgres://user@coordinator": 163,
        "COMPOSE_PROFILES=citus": 353,
    },
    ("deploy/README.md", "`make cluster` drains"): {"echo 'set server": 156},
    ("deploy/README.md", HOST): {"cp -r deploy/systemd": 301, "systemd-run": 197},
    ("deploy/databases.md", HOST): {"apt-get install": 398},
    ("deploy/databases.md", "`tests/test_recovery.py` restores"): {"systemctl stop": 210},
    ("deploy/README.md", "needs Kubernetes"): {"kubectl": 619},
    ("docs/front-end.md", "`test_example_page.py` has its port"): {"python3 -m http.server": 54},
    ("docs/operate.md", DOCKER): {
        "docker compose up": 33,
        "docker compose exec web python manage.py createsuperuser": 57,
        "docker compose exec -T web python manage.py prune": 50,
        "docker compose exec -T web python manage.py audit_ledger\n": 57,
        "docker compose exec -T web python manage.py audit_ledger --mend": 64,
        "docker compose exec -T web python manage.py load_rates": 120,
        "docker compose exec -T web python manage.py check_schema": 57,
        "docker compose cp": 36,
        "docker compose stop": 234,
        "COMPOSE_PROFILES=jobs": 86,
        "git pull": 125,
    },
    ("docs/plugins.md", "`tests/test_plugin_of_a_stranger.py` does"): {"export PYTHONPATH": 183},
    ("docs/splitwise.md", "`plugins/demo/tests/test_readme.py` does"): {"# After": 819},
    ("plugins/attachments/README.md", "are lines of `.env`"): {"ATTACHMENTS_STORE": 107},
    ("plugins/exchange/README.md", "needs PostgreSQL; see plugins/exchange/tests/test_moving.py"): {
        "DATABASE_URL=sqlite": 240
    },
    ("plugins/second_factor/README.md", DOCKER): {"docker compose exec": 77},
    ("plugins/tracing/README.md", "are lines of `.env`"): {"OTEL_EXPORTER": 124},
    ("docs/webhooks.md", "`plugins/demo/tests/test_readme.py` does"): {"api ": 151},
}


def blocks(document):
    """The commands of a document."""
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)


def the_one(document, beginning):
    [block] = [block for block in blocks(document) if block.startswith(beginning)]
    return block


def test_every_command_is_run_or_has_a_reason():
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = {(document, block) for document in listed.stdout.split() for block in blocks(document)}
    tour = (ROOT / "README.md").read_text().partition(TOUR)[2].partition("\n## ")[0]
    left = {
        (document, block)
        for document, block in found
        if document not in PLAYED and not (document == "README.md" and block in tour)
    }
    known = [(*run, None) for run in (*DEVELOPMENT, *PRODUCTION)]
    for (document, _reason), sizes in NOT_RUN.items():
        known += [(document, beginning, size) for beginning, size in sizes.items()]
    for document, beginning, size in known:
        [block] = [
            block for where, block in left if where == document and block.startswith(beginning)
        ]
        assert size in {None, len(block)}, f"{document} has {len(block)} characters in {block}"
        left.remove((document, block))
    assert not left


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A checkout that `make run` has served."""
    checkout = newcomers_checkout(tmp_path_factory.mktemp("served") / "project")
    assert make(checkout, "run").returncode == 0
    return checkout


@pytest.mark.slow
def test_commands_for_development_work_after_make_run(served):
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
def test_commands_for_production_work_with_the_settings_of_production(tmp_path):
    checkout = newcomers_checkout(tmp_path / "project")
    shell(checkout, the_one("docs/operate.md", "(umask 077"))
    assert make(checkout, "serve").stdout.endswith("serving with DEBUG=false\n")
    for document, beginning in sorted(PRODUCTION):
        if beginning not in {"(umask 077", "make serve"}:
            block = the_one(document, beginning).replace(" --watch", "")
            shell(checkout, block, EMAIL_URL="console://")
