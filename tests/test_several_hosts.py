"""Two hosts behind HAProxy and nginx: one is stopped under load, and no request fails."""

import os
import secrets
import signal
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from tests.programs import program
from tests.proxy import (
    DEPLOY,
    HAPROXY,
    NGINX,
    PROXIES,
    deployment_variables,
    haproxy_of_hosts,
    write_nginx,
)
from tests.server import running_server
from tests.splits.journey import Journey, sign_up

CLIENTS = 12
#: Before and after one host is stopped.
LOAD_SECONDS = 3
#: What a proxy needs to see that a host is up, or is drained.
SETTLED_SECONDS = 3


@HAPROXY
def test_haproxy_accepts_its_file(tmp_path):
    checked = subprocess.run(
        [program("haproxy"), "-c", "-f", str(DEPLOY / "haproxy.cfg")],
        env=os.environ | deployment_variables(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, "WARNING" in checked.stderr) == (0, False), checked.stderr


@NGINX
def test_nginx_accepts_its_file(tmp_path):
    main = write_nginx(tmp_path, deployment_variables(tmp_path))
    checked = subprocess.run(
        [program("nginx"), "-t", "-p", str(tmp_path), "-c", str(main)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, "[warn]" in checked.stderr) == (0, False), checked.stderr


@contextmanager
def two_hosts():
    """Two servers with one database and one key, behind a proxy."""
    shared = {"SECRET_KEY": secrets.token_urlsafe(48), "NUM_PROXIES": "1"}
    with running_server(**shared) as first:
        shared["DATABASE_URL"] = first.environment["DATABASE_URL"]
        with running_server(**shared) as second:
            yield [first, second]


@pytest.mark.slow
@pytest.mark.postgresql
@pytest.mark.parametrize("start", PROXIES)
def test_a_host_stops_under_load_and_no_request_fails(start, tmp_path):
    with two_hosts() as hosts, start([host.url for host in hosts], tmp_path) as proxy:
        with load(proxy, may_repeat=True) as seen:
            os.kill(hosts[0].pid, signal.SIGTERM)
        assert set(seen) == {"GET 200", "POST 201"}


@pytest.mark.slow
@HAPROXY
@pytest.mark.postgresql
def test_a_drained_host_stops_without_repeated_requests(tmp_path):
    """A POST without a key is never sent twice, so the host gets no more requests first."""
    with two_hosts() as hosts, haproxy_of_hosts([one.url for one in hosts], tmp_path) as proxy:
        with load(proxy, may_repeat=False) as seen:
            proxy.command("set server service/host1 state drain")
            time.sleep(SETTLED_SECONDS)
            os.kill(hosts[0].pid, signal.SIGTERM)
        assert set(seen) == {"GET 200", "POST 201"}


@contextmanager
def load(proxy, *, may_repeat):
    """Clients read and write around the body of the block; then every write is there once."""
    seen, ending = Counter[str](), threading.Event()
    with httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=60) as http:
        time.sleep(SETTLED_SECONDS)
        journey = Journey.start(sign_up(http))

        def use(_client):
            return _use(proxy, journey, ending, may_repeat=may_repeat)

        with ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(use, number) for number in range(CLIENTS)]
            try:
                time.sleep(LOAD_SECONDS)
                yield seen
                time.sleep(LOAD_SECONDS)
            finally:
                ending.set()
            for client in running:
                seen += client.result()
        stored = journey.owner.done("GET", f"{journey.path}/expenses")["total"]
        assert stored == seen["POST 201"]


def _use(proxy, journey, ending, *, may_repeat):
    """Read and write in turn, over connections that are closed now and then."""
    seen = Counter[str]()
    body = journey.expense_body(12, journey.owner)
    path = f"/api{journey.path}/expenses"
    while not ending.is_set():
        with httpx.Client(base_url=proxy.url, verify=proxy.trust, timeout=60) as http:
            for _turn in range(5):
                headers = dict(journey.owner.headers)
                seen[f"GET {http.get(path, headers=headers).status_code}"] += 1
                if may_repeat:
                    headers["Idempotency-Key"] = secrets.token_hex(16)
                seen[f"POST {http.post(path, json=body, headers=headers).status_code}"] += 1
    return seen
