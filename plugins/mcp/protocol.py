"""Messages of MCP: what is sent to `POST /api/mcp`, and which revision of the protocol it follows.

There are two eras. Up to 2025-11-25 a client begins with `initialize`; since 2026-07-28 each
request says its revision in `_meta`, and repeats it in headers with the method and the tool.
Neither needs a session here, and every answer is JSON. The messages are plain dictionaries: the
models of `mcp-types` would take 25 MB in each process; the tests validate against them.
Source: https://modelcontextprotocol.io/specification
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple

#: The revisions with a handshake, oldest first, and those without. Of 2025-03-26, arrays of
#: messages are refused: no other revision has them, and no client sends them.
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_ENCODED_PREFIX, _ENCODED_SUFFIX = "=?base64?", "?="


class Refused(Exception):
    """An error of the protocol: JSON-RPC's `code` and `message`, and its `data`."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.status = 404 if code == METHOD_NOT_FOUND else 400


class Message(NamedTuple):
    """A request, or a notification, which has no id and gets no answer."""

    id: str | int | None
    method: str
    params: Mapping[str, Any]
    is_stateless: bool

    def answer(self, result: dict[str, Any]) -> dict[str, Any]:
        """The response with this result."""
        if self.is_stateless:
            result = {**result, "resultType": "complete"}
        return {"jsonrpc": "2.0", "id": self.id, "result": result}


def message_in(body: Any, headers: Mapping[str, str]) -> Message:
    """The message in a body. Raises `Refused` if it is none, or contradicts the headers."""
    is_message = isinstance(body, dict) and body.get("jsonrpc") == "2.0"
    if not is_message or not isinstance(body.get("method"), str):
        raise Refused(INVALID_REQUEST, "The body must be one JSON-RPC request or notification.")
    found_id, params = id_in(body), body.get("params", {})
    has_id = found_id is not None
    if "id" in body and not has_id:
        raise Refused(INVALID_REQUEST, "The id must be text or a whole number of 64 bits.")
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "params must be an object.")
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    said = headers.get("MCP-Protocol-Version")
    is_stateless = _VERSION_KEY in meta or said not in {None, *HANDSHAKE}
    if is_stateless and has_id:
        _require_consistent(body["method"], params, meta, headers)
    elif is_stateless:
        _require_known(said)
    return Message(found_id, body["method"], params, is_stateless)


def id_in(body: Any) -> str | int | None:
    """The id of a request; None if it has none, or one that an answer could not repeat."""
    found = body.get("id") if isinstance(body, dict) else None
    is_number = isinstance(found, int) and not isinstance(found, bool) and abs(found) < 2**63
    return found if is_number or isinstance(found, str) else None


def _require_consistent(
    method: str, params: Mapping[str, Any], meta: Mapping[str, Any], headers: Mapping[str, str]
) -> None:
    """Raise `Refused` unless a request without handshake is complete and its headers repeat it."""
    if missing := [key for key in (_VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]:
        raise Refused(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    repeated = {"MCP-Protocol-Version": meta[_VERSION_KEY], "Mcp-Method": method}
    if method == "tools/call" and params.get("name") is not None:
        repeated["Mcp-Name"] = params["name"]
    for name, value in repeated.items():
        if _decoded(headers.get(name)) != value:
            raise Refused(HEADER_MISMATCH, f"The header {name} does not match the body.")
    _require_known(meta[_VERSION_KEY])


def _require_known(version: Any) -> None:
    if version not in STATELESS:
        data = {"supported": list(STATELESS), "requested": str(version)}
        raise Refused(UNSUPPORTED_VERSION, "Unsupported protocol version.", data)


def _decoded(value: str | None) -> str | None:
    """A header, which may be in Base64; None if it cannot be decoded."""
    if value is None or not (value.startswith(_ENCODED_PREFIX) and value.endswith(_ENCODED_SUFFIX)):
        return value
    try:
        encoded = value.removeprefix(_ENCODED_PREFIX).removesuffix(_ENCODED_SUFFIX)
        return b64decode(encoded, validate=True).decode()
    except ValueError:
        return None
