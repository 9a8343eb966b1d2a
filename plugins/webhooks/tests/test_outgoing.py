"""Requests to addresses that users chose, and receivers that misbehave."""

import ssl
import time

import pytest
import yaml

from plugins import outgoing
from plugins.outgoing import NOT_PUBLIC, BadAddress, NotAnswered, is_public, post, require_reachable
from plugins.webhooks.tests.receiver import (
    HOST,
    Authority,
    dripping,
    megabytes,
    never,
    receiving,
    redirect_to,
    resolving,
    status,
)
from tests.server import ROOT

pytestmark = pytest.mark.once


def send(receiver, path="/", *, seconds=2):
    url = f"https://{HOST}:{receiver.port}{path}"
    return post(url, b"{}", {"webhook-id": "msg_1"}, allow_private=True, seconds=seconds)


def reason(receiver, **options):
    with pytest.raises(NotAnswered) as refused:
        send(receiver, **options)
    return refused.value.reason


def test_a_request_arrives_under_the_name_of_its_host(receiver):
    assert send(receiver, "/in?for=olga") == 204
    [request] = receiver.received
    assert request.path == "/in?for=olga"
    assert request.body == b"{}"
    assert request.headers["host"] == f"{HOST}:{receiver.port}"
    assert request.headers["webhook-id"] == "msg_1"


def test_a_status_is_returned_whatever_it_is(receiver):
    receiver.answer = status(503)
    assert send(receiver) == 503


def test_a_redirect_is_not_followed(receiver):
    receiver.answers["/"] = redirect_to(f"https://{HOST}:{receiver.port}/other")
    assert send(receiver) == 307
    assert [request.path for request in receiver.received] == ["/"]


@pytest.mark.parametrize(
    "answer",
    [
        never,
        dripping(b"HTTP/1.1 200 OK\r\nX-Slow: "),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n"),
        dripping(b"HTTP/1.1 100 Continue\r\n"),
    ],
    ids=["never", "headers", "body", "before the status"],
)
def test_the_whole_exchange_has_one_time_limit(receiver, answer):
    receiver.answer = answer
    started = time.monotonic()
    assert reason(receiver, seconds=0.6) == "timeout"
    assert 0.5 < time.monotonic() - started < 1.5


def test_a_host_that_does_not_speak_tls_ends_with_the_time_limit(receiver, authority):
    with receiving(None) as plain:
        started = time.monotonic()
        assert reason(plain, seconds=0.6) in {"timeout", "tls"}
        assert time.monotonic() - started < 1.5


def test_a_resolver_that_hangs_ends_with_the_time_limit(receiver, monkeypatch):
    resolving(monkeypatch, hooks_example=["hang"])
    started = time.monotonic()
    assert reason(receiver, seconds=0.5) == "timeout"
    assert time.monotonic() - started < 1.5


def test_a_response_of_megabytes_is_not_read(receiver):
    receiver.answer = megabytes
    assert send(receiver) == 200
    # The kernels buffer a part of the rest.
    time.sleep(0.2)
    assert receiver.sent_bytes < 8_000_000


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "http"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "http"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "http"),
        (b"", "connection"),
    ],
    ids=["no HTTP", "200 headers", "a long header", "nothing"],
)
def test_what_is_no_response_is_a_failure(receiver, answer, expected):
    receiver.answer = lambda handler: handler.wfile.write(answer)
    assert reason(receiver) == expected


def test_the_certificate_must_be_that_of_the_name(receiver, authority):
    with receiving(authority.context("other.example")) as other:
        assert reason(other) == "tls"
        assert other.received == []


def test_the_certificate_must_be_of_a_known_authority(receiver, monkeypatch, tmp_path):
    with receiving(Authority(tmp_path / "none").context(HOST)) as forger:
        assert reason(forger) == "tls"
        assert forger.received == []


def test_the_certificates_of_authorities_are_read_once(receiver, monkeypatch):
    read, make = [], ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda: read.append("read") or make())
    assert [send(receiver), send(receiver)] == [204, 204]
    assert read == ["read"]


def test_proxies_in_the_environment_are_not_used(receiver, monkeypatch):
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert send(receiver) == 204


def test_the_next_address_is_tried_if_the_first_refuses(receiver, monkeypatch):
    resolving(monkeypatch, hooks_example=["127.0.0.9 127.0.0.1"])
    assert send(receiver) == 204


def test_a_host_whose_address_changes_after_the_check_is_not_reached(receiver, monkeypatch):
    """DNS rebinding: the first lookup says 203.0.114.1, and every later one 127.0.0.1."""
    url = f"https://{HOST}:{receiver.port}/"
    connected = []

    def connect(address, *_args, **_options):
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(outgoing.socket, "create_connection", connect)
    resolving(monkeypatch, hooks_example=["203.0.114.1", "127.0.0.1"])
    with pytest.raises(NotAnswered, match="connection"):
        post(url, b"", {}, allow_private=False, seconds=2)
    assert connected == [("203.0.114.1", receiver.port)]
    with pytest.raises(NotAnswered, match="address"):
        post(url, b"", {}, allow_private=False, seconds=2)
    assert len(connected) == 1
    assert receiver.connections == 0


def test_one_private_address_among_public_ones_is_refused(receiver, monkeypatch):
    resolving(monkeypatch, hooks_example=["93.184.216.34 127.0.0.1"])
    with pytest.raises(BadAddress):
        require_reachable(f"https://{HOST}/", allow_private=False, seconds=2)
    assert receiver.connections == 0


PRIVATE = """
    0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 192.0.0.1 192.0.2.1
    192.168.0.1 198.18.0.1 203.0.113.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
    :: ::1 ::ffff:127.0.0.1 ::ffff:93.184.216.34 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1
    0.1.2.3 168.63.129.16 192.0.0.9 192.88.99.1 198.19.255.255 198.51.100.7 2001:4:112::1
    2001::1 2001:db8::1 3fff:fff::1 2002:7f00:1:: fc00::1 fd00:ec2::254 fe80::1 fe80::1%lo fec0::1
    ff02::1
"""


@pytest.mark.parametrize("address", PRIVATE.split())
def test_addresses_that_are_not_public_are_refused(address):
    """T165: A webhook cannot reach what is not on the public internet."""
    assert not is_public(address)


def test_the_network_policy_refuses_the_same_networks():
    policies = yaml.safe_load_all((ROOT / "deploy/kubernetes/base/network.yaml").read_text())
    [policy] = [found for found in policies if found["metadata"]["name"] == "webhooks"]
    blocks = [to["ipBlock"] for to in policy["spec"]["egress"][0]["to"]]
    assert [block["cidr"] for block in blocks] == ["0.0.0.0/0", "2000::/3"]
    assert [n for block in blocks for n in block["except"]] == list(map(str, NOT_PUBLIC))


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "2a00::1"])
def test_public_addresses_are_accepted(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://93.184.216.34/", "ftp://93.184.216.34/", "93.184.216.34", "//93.184.216.34/", "",
        "https://", "https:///path", "https://olga@93.184.216.34/",
        "https://olga:secret@93.184.216.34/", "https://@93.184.216.34/", "https://93.184.216.34/#a",
        "https://93.184.216.34:22/", "https://93.184.216.34:0/", "https://93.184.216.34:65536/",
        "https://93.184.216.34:a/", "https://93.184.216.34/\r\nX: y", "https://93.184.216.34/a b",
        "https://93.184.216.34\\@127.0.0.1/", "https://[::1", "https://münchen.example/",
        "https://127.0.0.1/", "https://localhost/", "https://[::ffff:10.0.0.1]/",
        "https://2130706433/", "https://0x7f.1/", "https://127.1/", "https://0/",
        "https://nowhere.invalid/", f"https://{'a' * 300}.example/",
        "https://93.184.216.34/" + "a" * 2048,
    ],
)  # fmt: skip
def test_other_urls_are_refused(url):
    with pytest.raises(BadAddress):
        require_reachable(url, allow_private=False, seconds=3)


@pytest.mark.parametrize(
    "url", ["https://93.184.216.34/a?b=c", "https://93.184.216.34:8443", "HTTPS://1.1.1.1:443/"]
)
def test_public_https_urls_are_accepted(url):
    require_reachable(url, allow_private=False, seconds=3)
