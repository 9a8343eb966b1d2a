"""What a container is started with: limits, logs, health, and a user without rights."""

import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.server import ROOT, free_port
from tripcompanion.serving.admission import LARGE_BODY_SECONDS

pytestmark = pytest.mark.once

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
#: What an operator reads: the page of the core, and those of plugins.
GUIDES = (ROOT / "docs" / "operate.md", *ROOT.glob("plugins/*/README.md"))
OPERATE = "".join(guide.read_text() for guide in GUIDES)


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_bounded_memory_and_logs_and_comes_back(name):
    service = SERVICES[name]
    assert re.fullmatch(r"(\$\{WEB_MEMORY:-)?[0-9]+[mg]\}?", service["mem_limit"])
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    assert service.get("restart") == "unless-stopped" or name in {"migrate", "citus-nodes"}


def test_the_containers_of_the_service_have_no_rights():
    own = [service for service in SERVICES.values() if "build" in service]
    assert len(own) == 11
    for service in own:
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    # The image of the job `backup` installs a package as root.
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.M) == ["10001:10001", "root", "10001:10001"]


def test_profiles_add_what_the_guide_says():
    found: dict[str, set[str]] = {}
    for name, service in SERVICES.items():
        for profile in service.get("profiles", ["(always)"]):
            found.setdefault(profile, set()).add(name)
    assert found == {
        "(always)": {
            *("web", "migrate", "mail", "webhooks", "recurring", "documents", "attachments"),
            *("postgres", "redis"),
        },
        "https": {"caddy"},
        "jobs": {"prune", "rates", "audit", "backup"},
        "dev": {"mailpit"},
        "citus": {"citus-coordinator", "citus-worker-1", "citus-worker-2", "citus-nodes"},
    }
    for profile in found.keys() - {"(always)"}:
        assert f"| `{profile}` |" in OPERATE


def test_caddy_waits_for_a_file_as_long_as_the_service():
    assert f"read_body {LARGE_BODY_SECONDS}s\n" in (ROOT / "deploy" / "Caddyfile").read_text()


def test_only_the_proxy_listens_beyond_this_machine():
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    public = {name for name, bound in ports.items() if not str(bound[0]).startswith("127.0.0.1:")}
    assert public == {"caddy"}


@pytest.mark.parametrize("name", [name for name in SERVICES if "command" in SERVICES[name]])
def test_every_loop_is_a_shell_program(name):
    command = SERVICES[name]["command"]
    if command[:2] == ["sh", "-c"]:
        program = command[2].replace("$$", "$")
        assert program.rstrip().endswith("done")
        subprocess.run(["sh", "-n", "-c", program], check=True)
        for subcommand in re.findall(r"manage\.py (\w+)", program):
            assert f"manage.py {subcommand}" in OPERATE


def health_check(port, hosts):
    """The exit status of the health check of the service."""
    command = SERVICES["web"]["healthcheck"]["test"]
    assert command[:3] == ["CMD", "python", "-c"]
    assert "/api/health/ready" in command[3]
    environment = {"PORT": str(port), "ALLOWED_HOSTS": hosts}
    checked = [sys.executable, *command[2:]]
    return subprocess.run(checked, env=environment, check=False, capture_output=True).returncode


def test_a_container_is_healthy_when_it_is_ready(server):
    port = int(server.url.rpartition(":")[2])
    assert health_check(port, "localhost,api.example.com") == 0
    assert health_check(port, "api.example.com") == 1
    assert health_check(free_port(), "localhost") == 1


def test_only_what_serves_has_a_health_check():
    """Compose 2.26 waits in vain for a running container whose health check is disabled."""
    assert "HEALTHCHECK" not in DOCKERFILE
    checked = {name for name, service in SERVICES.items() if "healthcheck" in service}
    databases = {name for name in SERVICES if name.startswith("citus-")} | {"postgres", "redis"}
    assert checked == {"web"} | databases
