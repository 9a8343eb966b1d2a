"""Messages of both eras of the protocol; what is malformed or contradicts itself is refused."""

import pytest
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from rest_framework.test import APIClient

from plugins.mcp.protocol import HANDSHAKE, STATELESS
from plugins.mcp.tests.conftest import LATEST, OLDEST, PATH, Assistant

pytestmark = pytest.mark.either

INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def error(response):
    """The HTTP status and the code of a refusal."""
    return response.status_code, response.json()["error"]["code"]


def test_all_revisions_of_the_protocol_are_served():
    assert (*HANDSHAKE, *STATELESS) == KNOWN_PROTOCOL_VERSIONS


def test_a_client_discovers_the_server_without_a_handshake(assistant, olga):
    found = assistant(olga).result("server/discover")
    assert found["supportedVersions"] == [LATEST]
    assert "data" in found["instructions"]


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        *((known, known) for known in HANDSHAKE),
        ("2030-01-01", HANDSHAKE[-1]),
        (["2025-06-18"], HANDSHAKE[-1]),
    ],
)
def test_a_handshake_agrees_on_a_revision(assistant, olga, asked, agreed):
    client = assistant(olga, revision=HANDSHAKE[-1])
    result = client.result("initialize", {**INITIALIZE, "protocolVersion": asked})
    assert result["protocolVersion"] == agreed
    assert client.result("ping") == {}
    response = client.client.post(PATH, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("revision", [*HANDSHAKE, *STATELESS])
def test_tools_are_listed_and_called_in_every_revision(assistant, olga, revision):
    client = assistant(olga, revision=revision)
    assert "who_am_i" in client.tools()
    assert client.call("who_am_i")["id"] == olga.pk


def test_a_token_is_needed(api, olga):
    response = Assistant(api(None)).send("tools/list")
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    browser = APIClient()
    browser.force_login(olga)
    assert Assistant(browser).send("tools/list").status_code == 401


def test_only_post_is_served(api, olga):
    for method in ("get", "put", "delete"):
        for accept in ("application/json", "text/event-stream", "text/html", "x"):
            response = getattr(api(olga), method)(PATH, HTTP_ACCEPT=accept)
            assert (response.status_code, response["Allow"]) == (405, "POST")


def test_pages_of_other_origins_are_refused(assistant, olga, settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example.com"]
    for origin, status in {
        "https://app.example.com": 200,
        "http://testserver": 200,
        "https://evil.example": 403,
        "null": 403,
        "http://[": 403,
        "http://℀": 403,
        "http://user@testserver": 403,
        "testserver": 403,
    }.items():
        assert assistant(olga).send("tools/list", HTTP_ORIGIN=origin).status_code == status, origin


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        ("7", -32600),
        ('{"id": 1, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
    ],
)
def test_malformed_messages_are_refused(api, olga, body, code):
    assert error(api(olga).post(PATH, body, content_type="application/json")) == (400, code)


def test_unknown_methods_and_tools_are_refused(assistant, olga):
    client = assistant(olga)
    for method in ("resources/list", "initialize", "ping", "x" * 500):
        assert error(client.send(method)) == (404, -32601)
    unknown = client.send("tools/call", {"name": "drop_tables", "arguments": {}})
    assert error(unknown) == (400, -32602)


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_refusal_does_not_end_a_connection_with_a_handshake(assistant, olga, revision):
    client = assistant(olga, revision=revision)
    assert error(client.send("resources/list")) == (200, -32601)
    assert error(client.send("tools/call", {"name": "drop_tables"})) == (200, -32602)
    for params in ({"name": []}, {"name": "who_am_i", "arguments": []}):
        assert error(client.send("tools/call", params)) == (200, -32602)
    assert error(client.client.post(PATH, {"jsonrpc": "2.0", "id": 1})) == (400, -32600)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"HTTP_MCP_PROTOCOL_VERSION": OLDEST}, -32020),
        ({"HTTP_MCP_METHOD": "tools/list"}, -32020),
        ({"HTTP_MCP_NAME": "list_trips"}, -32020),
        ({"HTTP_MCP_NAME": "=?base64?d2hvX2FtX2k?="}, -32020),
    ],
)
def test_headers_that_contradict_the_body_are_refused(assistant, olga, headers, code):
    assert error(assistant(olga).send("tools/call", {"name": "who_am_i"}, **headers)) == (400, code)


def test_a_header_may_be_encoded(assistant, olga):
    encoded = "=?base64?d2hvX2FtX2k=?="
    response = assistant(olga).send("tools/call", {"name": "who_am_i"}, HTTP_MCP_NAME=encoded)
    assert response.json()["result"]["structuredContent"]["id"] == olga.pk


def test_unknown_revisions_are_told_which_are_known(assistant, olga):
    client = assistant(olga)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {}}}
    without = client.client.post(PATH, body, HTTP_MCP_PROTOCOL_VERSION="2099-01-01")
    assert error(without) == (400, -32602)
    key = "io.modelcontextprotocol/protocolVersion"
    body["params"]["_meta"] = {key: "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}}
    said = {"HTTP_MCP_PROTOCOL_VERSION": "2099-01-01", "HTTP_MCP_METHOD": "tools/list"}
    refused = client.client.post(PATH, body, **said)
    assert error(refused) == (400, -32022)
    assert refused.json()["error"]["data"] == {"supported": [LATEST], "requested": "2099-01-01"}
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert client.client.post(PATH, notice, **said).status_code == 400
    assert client.client.post(PATH, notice, HTTP_MCP_PROTOCOL_VERSION=LATEST).status_code == 202
