"""The files for Prometheus and Grafana are valid, and all that they name is measured."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest
import yaml

from plugins.metrics.tests.scrape import HEADERS, measured_server, samples
from tests.server import ROOT
from tests.splits.journey import fresh_email, register, sign_up

pytestmark = pytest.mark.once

PROMETHEUS = ROOT / "deploy" / "prometheus"
ALERTS = PROMETHEUS / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboard.json"
GUIDE = ROOT / "deploy" / "monitoring.md"
needs_promtool = pytest.mark.needs("promtool")
METRIC = re.compile(r"\btripcompanion_[a-z0-9_]+")


def promtool(*arguments, stdin=""):
    """Fail the test if promtool finds a fault."""
    done = subprocess.run(
        ["promtool", *arguments], input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def named(path):
    """The metrics that a file names; the guide names families."""
    return set(METRIC.findall(path.read_text()))


@needs_promtool
def test_promtool_accepts_rules_and_configuration():
    promtool("check", "rules", "--lint-fatal", str(ALERTS))
    promtool("check", "config", "--syntax-only", str(PROMETHEUS / "prometheus.yml"))


@needs_promtool
def test_alerts_fire_when_they_should(tmp_path):
    shutil.copy(ALERTS, tmp_path / "rules.yml")
    shutil.copy(Path(__file__).with_name("alerts.yml"), tmp_path)
    promtool("test", "rules", str(tmp_path / "alerts.yml"))


@pytest.mark.slow
@needs_promtool
def test_every_metric_that_is_named_is_measured():
    limits = {"THROTTLE_REGISTER": "1/day"}
    with measured_server(**limits) as server, httpx.Client(base_url=server.url) as http:
        sign_up(http)
        assert register(http, fresh_email()).status_code == 429
        server.manage("audit_ledger")
        measured = {sample.name for sample in samples(server)}
        text = http.get("/metrics", headers=HEADERS).text
    promtool("check", "metrics", stdin=text)
    families = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in measured}
    assert named(ALERTS) <= measured
    assert named(DASHBOARD) <= measured
    documented = {re.sub(r"_total$", "", name) for name in named(GUIDE)}
    families = {name for name in families if name.startswith("tripcompanion_")}
    assert documented == families


def test_an_alert_says_what_is_wrong_and_how_urgent_it_is():
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert rule["annotations"]["summary"].endswith(".")


def test_every_panel_of_the_dashboard_asks_one_job_of_the_chosen_source():
    board = json.loads(DASHBOARD.read_text())
    assert {variable["name"] for variable in board["templating"]["list"]} == {"datasource", "job"}
    places = set()
    for panel in board["panels"]:
        assert panel["datasource"]["uid"] == "${datasource}"
        place = panel["gridPos"]
        places.add((place["x"], place["y"]))
        assert place["x"] + place["w"] <= 24
        for target in panel["targets"]:
            asked = METRIC.findall(target["expr"])
            assert asked
            assert target["expr"].count('job="$job"') == len(asked)
    assert len(places) == len(board["panels"])


@needs_promtool
def test_promtool_accepts_the_queries_of_the_dashboard(tmp_path):
    board = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    rules = [
        {"record": f"dashboard:query:{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(queries)
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", str(file))
