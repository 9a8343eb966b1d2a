"""An assistant: somebody's client of the tools, with or without a handshake."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from mcp_types import methods
from rest_framework.test import APIClient

from tests.cast import Api
from tests.scoped import script_of
from tests.users.logins import bearer
from users.models import User

PATH = "/api/mcp"
LATEST, OLDEST = "2026-07-28", "2024-11-05"


class Assistant:
    """Sends messages as a client of one revision of the protocol does, and validates answers."""

    def __init__(self, client: APIClient, revision: str = LATEST) -> None:
        self.client, self.revision = client, revision
        self._ids = count(1)

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """The response to a request."""
        params = dict(params or {})
        said = {"HTTP_MCP_PROTOCOL_VERSION": self.revision}
        if self.revision == LATEST:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            said |= {"HTTP_MCP_METHOD": method, "HTTP_MCP_NAME": str(params.get("name", ""))}
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        accept = "application/json, text/event-stream"
        return self.client.post(PATH, body, HTTP_ACCEPT=accept, **{**said, **headers})

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request, which the types of the revision accept."""
        response = self.send(method, params)
        assert response.status_code == 200, response.content
        result = response.json()["result"]
        methods.validate_server_result(method, self.revision, result)
        return result

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that succeeds."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        assert not result["isError"], result["content"]
        return result["structuredContent"]

    def refusal(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The text and the data of a call that fails."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"], result["content"]
        return result["content"][0]["text"], result["structuredContent"]

    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools by name."""
        return {tool["name"]: tool for tool in self.result("tools/list")["tools"]}


@pytest.fixture
def assistant(api: Api) -> Callable[..., Assistant]:
    """`assistant(olga)` has her session, `assistant(olga, "trips:read")` a token of hers."""

    def made(user: User | None, *scopes: str, revision: str = LATEST) -> Assistant:
        client = api(None if scopes else user)
        if scopes and user is not None:
            client = bearer(script_of(user, *scopes).token)
        return Assistant(client, revision)

    return made
