"""The manifests in deploy/kubernetes are valid, and agree with the server and the compose file."""

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.server import ROOT

pytestmark = pytest.mark.once

KUBERNETES = ROOT / "deploy" / "kubernetes"
BASE = KUBERNETES / "base"
OVERLAY = KUBERNETES / "overlays" / "production"
VERSIONS = ("1.31", kubernetes_validate.latest_version())


def documents(path):
    return list(yaml.safe_load_all(path.read_text()))


def kustomization(folder):
    [found] = documents(folder / "kustomization.yaml")
    return found


RESOURCES = [
    resource for name in kustomization(BASE)["resources"] for resource in documents(BASE / name)
]
BY_NAME = {(one["kind"], one["metadata"]["name"]): one for one in RESOURCES}


def pod_of(resource):
    spec = resource["spec"]
    return spec.get("jobTemplate", {"spec": spec})["spec"]["template"]


PODS = {
    resource["metadata"]["name"]: pod_of(resource)
    for resource in RESOURCES
    if resource["kind"] in {"Deployment", "Job", "CronJob"}
}


def settings_in(folder):
    lines = (folder / "settings.env").read_text().splitlines()
    pairs = (line.partition("=") for line in lines if not line.startswith("#"))
    return {name: value for name, _equals, value in pairs}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", BY_NAME, ids=" ".join)
def test_a_resource_is_valid(name, version):
    kubernetes_validate.validate(BY_NAME[name], version, strict=True)


def test_every_file_belongs_to_a_kustomization():
    for folder in (BASE, OVERLAY):
        named = kustomization(folder)
        files = {"kustomization.yaml"}
        files |= {name for name in named["resources"] if not (folder / name).is_dir()}
        files |= {patch["path"] for patch in named.get("patches", [])}
        for generator in named["configMapGenerator"]:
            files |= set(generator["envs"])
        assert files == {path.name for path in folder.iterdir()}
    assert (OVERLAY / "../../base").resolve() == BASE


def test_the_overlay_changes_what_the_base_has():
    named = kustomization(OVERLAY)
    assert ("Deployment", named["replicas"][0]["name"]) in BY_NAME
    images = {one["image"] for pod in PODS.values() for one in pod["spec"]["containers"]}
    assert images == {named["images"][0]["name"]}
    host, resources = (OVERLAY / patch["path"] for patch in named["patches"])
    for operation in yaml.safe_load(host.read_text()):
        place: Any = BY_NAME[("Ingress", "web")]
        for step in operation["path"].strip("/").split("/"):
            place = place[int(step)] if isinstance(place, list) else place[step]
        assert place == settings_in(BASE)["ALLOWED_HOSTS"].partition(",")[0]
        assert operation["value"] == settings_in(OVERLAY)["ALLOWED_HOSTS"].partition(",")[0]
    [patch] = documents(resources)
    assert (patch["kind"], patch["metadata"]["name"]) in BY_NAME


def test_settings_exist():
    documented = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.M))
    for folder in (BASE, OVERLAY):
        assert settings_in(folder).keys() <= documented


@pytest.mark.parametrize("name", PODS)
def test_a_pod_has_no_rights(name):
    pod = PODS[name]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert f"USER {pod['securityContext']['runAsUser']}:" in (ROOT / "Dockerfile").read_text()
    [container] = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]


def test_a_pod_has_longer_to_stop_than_it_needs():
    pod = PODS["web"]["spec"]
    [container] = pod["containers"]
    [graceful] = re.findall(
        r"^graceful_timeout = (\d+)$", (ROOT / "gunicorn.conf.py").read_text(), re.M
    )
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + int(graceful)
    # The pause is long enough for a probe to take the pod out.
    ready = container["readinessProbe"]
    assert pause >= ready["periodSeconds"] * ready["failureThreshold"]


@pytest.mark.parametrize("kind", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_a_probe_asks_a_host_that_is_allowed(kind):
    [container] = PODS["web"]["spec"]["containers"]
    asked = container[kind]["httpGet"]
    assert asked["path"] == ("/api/health/ready" if kind == "readinessProbe" else "/api/health")
    [header] = asked["httpHeaders"]
    for folder in (BASE, OVERLAY):
        assert header["value"] in settings_in(folder)["ALLOWED_HOSTS"].split(",")


def test_the_jobs_are_those_of_the_compose_file():
    """All but the backup, which belongs to whoever operates the database."""
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    jobs = {name for name, one in compose.items() if "jobs" in one.get("profiles", [])}
    crons = {name for kind, name in BY_NAME if kind == "CronJob"}
    assert crons == jobs - {"backup"}
    for name in crons:
        command = " ".join(PODS[name]["spec"]["containers"][0]["command"])
        assert f" {command};" in compose[name]["command"][2]
    for name in ("mail", "webhooks", "recurring", "documents", "attachments", "migrate"):
        assert PODS[name]["spec"]["containers"][0]["command"] == compose[name]["command"]


def test_selectors_select_pods():
    labels = {
        name: {**pod["metadata"]["labels"], **kustomization(BASE)["labels"][0]["pairs"]}
        for name, pod in PODS.items()
    }
    for (kind, _name), resource in BY_NAME.items():
        spec = resource["spec"]
        selector = spec.get("podSelector", spec.get("selector"))
        for rule in (selector or {}).get("matchExpressions", ()):
            known = {one.get(rule["key"]) for one in labels.values()}
            assert known >= set(rule["values"])
        if selector and "matchExpressions" not in selector and kind not in {"Job", "CronJob"}:
            wanted = selector.get("matchLabels", selector)
            assert any(wanted.items() <= one.items() for one in labels.values())
