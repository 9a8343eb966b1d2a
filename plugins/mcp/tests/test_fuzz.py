"""Whatever an assistant sends, it gets an answer of the protocol, and nothing fails inside."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plugins.mcp.protocol import STATELESS
from plugins.mcp.tests.conftest import PATH
from plugins.mcp.tools import TOOLS, schemas

pytestmark = pytest.mark.once

TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from(["me", "Olga", "1", "Trip", "", "=?base64?x?=", "%", "'"])
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES: Any = st.recursive(
    SCALARS, lambda some: st.one_of(st.lists(some, max_size=3), st.dictionaries(TEXTS, some))
)
FIELDS = sorted({field for one in schemas().values() for field in one["properties"]})


@st.composite
def messages(draw):
    """A request and its headers, mostly a call of a tool, with arguments that it may have."""
    name = draw(st.one_of(st.sampled_from(sorted(TOOLS)), TEXTS))
    known = st.sampled_from(
        FIELDS if name not in TOOLS else sorted(schemas()[name]["properties"]) or FIELDS
    )
    arguments = draw(st.one_of(st.dictionaries(known, VALUES, max_size=8), VALUES))
    method = draw(st.sampled_from(["tools/call"] * 8 + ["tools/list", "initialize", "x"]))
    params: Any = {"name": name, "arguments": arguments}
    headers = {}
    if draw(st.booleans()):
        params["_meta"] = draw(
            st.one_of(
                VALUES,
                st.just(
                    {
                        "io.modelcontextprotocol/protocolVersion": STATELESS[0],
                        "io.modelcontextprotocol/clientCapabilities": {},
                    }
                ),
            )
        )
        headers = {"HTTP_MCP_PROTOCOL_VERSION": STATELESS[0], "HTTP_MCP_METHOD": method}
        if name.isascii() and name.isprintable():
            headers["HTTP_MCP_NAME"] = name
    params = draw(st.sampled_from([params, params, params, params.get("arguments")]))
    body = {"jsonrpc": "2.0", "id": draw(st.one_of(st.just(1), VALUES)), "method": method}
    return {**body, "params": params}, headers


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(message=messages())
def test_every_message_is_answered(stored_world, message, db):
    body, headers = message
    client = stored_world.client
    response = client.post(PATH, json.dumps(body), content_type="application/json", **headers)
    assert response.status_code in {200, 400, 404}, response.content
    answer = response.json()
    assert answer["jsonrpc"] == "2.0"
    assert ("result" in answer) != ("error" in answer)
