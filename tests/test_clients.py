"""The client in clients/typescript fits `openapi.yaml`; `make clients` proves that it works."""

import json
import os
import re
import subprocess

import pytest

from tests.document import DOCUMENT, OPERATIONS, ROOT, usual_plugins

pytestmark = pytest.mark.once

CLIENTS = ROOT / "clients"
TYPES = (CLIENTS / "typescript" / "dist" / "schema.d.ts").read_text()
STALE = "run `make clients` and commit clients/typescript"


def contents(package):
    return json.loads((CLIENTS / package).read_text())


@usual_plugins
def test_the_typescript_client_has_the_operations_of_the_document():
    body = re.search(r"^export interface operations {\n(.*?)^}$", TYPES, re.M | re.S)[1]
    found = set(re.findall(r"^    (\w+): {$", body, re.M))
    assert found == {operation.spec["operationId"] for operation in OPERATIONS}, STALE


@usual_plugins
def test_the_typescript_client_has_the_objects_of_the_document():
    body = re.search(r"^    schemas: {\n(.*?)^    };$", TYPES, re.M | re.S)[1]
    found = {}
    for name, fields in re.findall(r"^        (\w+): {\n(.*?)^        };$", body, re.M | re.S):
        found[name] = set(re.findall(r'^            "?(\w+)"?\??:', fields, re.M))
    assert found == {
        name: set(schema.get("properties", ()))
        for name, schema in DOCUMENT["components"]["schemas"].items()
        if schema.get("type") == "object"
    }, STALE


def test_the_typescript_client_has_the_version_of_the_document():
    assert contents("typescript/package.json")["version"] == DOCUMENT["info"]["version"]


def test_npm_packages_come_from_the_configured_registry():
    packages = contents("package-lock.json")["packages"]
    addresses = {about["resolved"] for about in packages.values() if "resolved" in about}
    assert addresses == {"typescript"}


def test_without_a_current_node_the_target_says_so_in_one_line(tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho 'unknown option' >&2; exit 1\n")
    node.chmod(0o755)
    done = subprocess.run(
        ["make", "--no-print-directory", "clients"],
        cwd=ROOT,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    line, makes_own = done.stderr.splitlines()
    assert line.startswith("make clients and make check need Node.js 20.19 or newer")
    assert makes_own.endswith("Error 1")
