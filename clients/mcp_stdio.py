"""Connects programs that start an MCP server as a process to a Trip Companion service.

    TRIP_COMPANION_TOKEN=tc_… python mcp_stdio.py https://api.example.com

It reads one JSON-RPC message a line from standard input, sends it to `/api/mcp`, and writes the
answer as a line to standard output. It needs Python 3.11 or newer and nothing else. The token is
one of `POST /api/users/me/tokens`, with the scopes that the assistant should have.
"""

import base64
import json
import os
import sys
import urllib.error
import urllib.request
from typing import Any

TIMEOUT_SECONDS = 60
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


def header(value: str) -> str:
    """A value as a header may have it: other than visible ASCII goes in Base64."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


class Bridge:
    """Sends messages to the service at `url` with a token."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = f"{url.rstrip('/')}/api/mcp", token
        #: What the handshake agreed on; later requests repeat it.
        self.revision = ""

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a message; None if it needs none."""
        request = urllib.request.Request(
            self.url, json.dumps(message).encode(), self.headers(message)
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
                body = response.read()
        except urllib.error.HTTPError as error:
            body = error.read()
        except OSError as error:
            body = json.dumps({"detail": f"The service cannot be reached: {error}"}).encode()
        if "id" not in message or not body:
            return None
        found = json.loads(body)
        if "jsonrpc" not in found:
            # A refusal of the service itself, such as a token that has expired.
            error = {"code": -32000, "message": found.get("detail", "The service failed.")}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        if message.get("method") == "initialize" and "result" in found:
            self.revision = found["result"]["protocolVersion"]
        return found

    def headers(self, message: dict[str, Any]) -> dict[str, str]:
        """The headers of a message: since 2026-07-28 they repeat what the body says."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        params = message.get("params") or {}
        revision = params.get("_meta", {}).get(VERSION_KEY)
        if revision:
            headers["Mcp-Method"] = header(message["method"])
            if isinstance(params.get("name"), str):
                headers["Mcp-Name"] = header(params["name"])
        if revision or self.revision:
            headers["MCP-Protocol-Version"] = revision or self.revision
        return headers


def main() -> None:
    token = os.environ.get("TRIP_COMPANION_TOKEN", "")
    if len(sys.argv) != 2 or not token or not sys.argv[1].startswith(("http://", "https://")):
        sys.exit("Usage: TRIP_COMPANION_TOKEN=tc_… python mcp_stdio.py https://api.example.com")
    bridge = Bridge(sys.argv[1], token)
    for line in sys.stdin:
        try:
            message = json.loads(line)
            answer = bridge.answer(message) if isinstance(message, dict) else None
        except json.JSONDecodeError:
            error = {"code": -32700, "message": "The line is not JSON."}
            answer = {"jsonrpc": "2.0", "id": None, "error": error}
        if answer is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
