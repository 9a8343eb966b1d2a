"""The client of the official SDK, over HTTP and through `clients/mcp_stdio.py`, in both eras."""

import json
import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.server import ROOT
from users.scopes import all_scopes

pytestmark = [pytest.mark.either, pytest.mark.django_db]

MODES = ["legacy", "auto", "2026-07-28"]
SCOPES = [*all_scopes()]
PAGE = (ROOT / "docs" / "assistants.md").read_text()


@pytest.fixture(scope="module")
def people(server):
    """Olga with a trip, Ed in it, and a token of hers."""
    with httpx2.Client(base_url=server.url) as client:
        found: dict[str, Any] = {}
        for name in ("olga", "ed"):
            body = {"name": name, "email": f"{name}@mcp.example.com", "password": "four-green-bags"}
            found[name] = client.post("/api/users/register", json=body).json()
        client.headers["Authorization"] = f"Bearer {found['olga']['token']}"
        dates = {"startDate": "2026-05-14", "endDate": "2026-05-18", "currency": "EUR"}
        trip = client.post("/api/trips", json={"title": "Alps", "destination": "Alps", **dates})
        found["trip"] = trip.json()["id"]
        member = {"userId": found["ed"]["user"]["id"], "role": "EDITOR"}
        client.post(f"/api/trips/{found['trip']}/members", json=member)
        token = client.post("/api/users/me/tokens", json={"name": "AI", "scopes": SCOPES})
        found["token"] = token.json()["token"]
        return found


def documented(key, server, people):
    """The settings with `key` that the document has for a program, with address and token."""
    page = PAGE.replace("https://api.example.com", server.url).replace("tc_…", people["token"])
    blocks = re.findall(r"^```json\n(.*?)^```$", page, re.M | re.S)
    programs = [one for block in blocks for one in json.loads(block)["mcpServers"].values()]
    [found] = [one for one in programs if key in one]
    return found


@asynccontextmanager
async def over_http(server, people, mode):
    settings = documented("url", server, people)
    async with httpx2.AsyncClient(headers=settings.pop("headers")) as http:
        transport = streamable_http_client(settings.pop("url"), http_client=http)
        assert not settings
        async with Client(transport, mode=mode) as client:
            yield client


@asynccontextmanager
async def over_stdio(server, people, mode):
    settings = documented("command", server, people)
    # With the `python3` of the tests, which may be the only one that is new enough.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    parameters = StdioServerParameters(
        command=settings.pop("command"),
        args=settings.pop("args"),
        env={"PATH": path, **settings.pop("env")},
        cwd=ROOT / "clients",
    )
    assert not settings
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


@pytest.mark.parametrize("connected", [over_http, over_stdio])
@pytest.mark.parametrize("mode", MODES)
def test_an_assistant_records_a_dinner(server, people, mode, connected):
    name = f"Dinner {mode} {connected.__name__}"

    async def story():
        async with connected(server, people, mode) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert {"trip_overview", "add_expense"} <= tools
            dinner = {
                "trip": "alps",
                "description": name,
                "amount": "62.55",
                "expenseDate": "2026-05-14",
                "splitType": "EQUAL",
                "participantUserIds": ["me", "ed"],
            }
            for _try in range(2):
                added = await client.call_tool("add_expense", dinner)
                assert not added.is_error, added.content
            deleted = await client.call_tool("delete_expense", {"trip": "Alps", "expense": name})
            assert not deleted.is_error
            back = {"trip": "Alps", "expense": added.structured_content["id"]}
            assert not (await client.call_tool("restore_expense", back)).is_error
            refused = await client.call_tool("get_expense", {"trip": "Rome", "expense": 1})
            assert refused.is_error
            return added.structured_content

    added = anyio.run(story)
    with httpx2.Client(base_url=server.url) as client:
        client.headers["Authorization"] = f"Bearer {people['olga']['token']}"
        found = client.get(f"/api/trips/{people['trip']}/expenses", params={"search": name}).json()
    assert [one["id"] for one in found["items"]] == [added["id"]]
    assert sorted(split["amount"] for split in added["splits"]) == [31.27, 31.28]


def test_a_whole_trip_by_tools_alone(server, people):
    async def story():
        async with over_http(server, people, "auto") as client:

            async def call(tool, **arguments):
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer.content
                return answer.structured_content

            days = {"startDate": "2026-05-14", "endDate": "2026-05-18", "currency": "EUR"}
            trip = (await call("create_trip", title="Faro", destination="Faro", **days))["id"]
            where = {"trip": "Faro"}
            await call("add_person", **where, name="Grandma")
            await call("add_person", **where, email="ed@mcp.example.com", role="EDITOR")
            assert (await call("invite", **where, role="VIEWER"))["link"].startswith("http")
            assert (await call("change_trip", **where, budget=500))["budget"] == 500
            dinner = {"description": "Dinner", "amount": 60, "expenseDate": "2026-05-14"}
            dinner |= {"splitType": "EQUAL", "participantUserIds": ["me", "ed", "Grandma"]}
            await call("add_expense", **where, **dinner)
            await call("change_expense", **where, expense="Dinner", amount=90)
            await call("pay_split", **where, expense="Dinner", person="Grandma")
            await call("unpay_split", **where, expense="Dinner", person="Grandma")
            await call("delete_expense", **where, expense="Dinner")
            await call("restore_expense", **where, expense="Dinner")
            plan = await call("settle_up_plan", **where)
            assert [one["amount"] for one in plan["result"]] == [30, 30]
            await call("settle_up", **where, tag=plan["tag"])
            assert (await call("settle_up_plan", **where))["result"] == []
            # The newest one closed the trip, so it is taken back first.
            for payment in (await call("list_settlements", **where))["items"]:
                await call("delete_settlement", **where, settlement=payment["id"])
            assert len((await call("settle_up_plan", **where))["result"]) == 2
            history = await call("history", **where, pageSize=100)
            assert history["items"][-1]["text"] == "olga created the trip."
            table = await call("export_trip", **where)
            assert table["fileName"] == f"trip-{trip}.csv"
            assert "Dinner" in table["content"]
            file = (await call("export_trip", **where, format="json"))["content"]
            planned = await call("import_file", content=file, title="Copy")
            assert (planned["state"], planned["trip"]["title"]) == ("planned", "Copy")
            done = await call("import_file", importId=planned["id"])
            assert (done["state"], done["tripId"] != trip) == ("done", True)
            assert (await call("list_expenses", trip="Copy"))["total"] == 1

    anyio.run(story)


def test_the_process_says_why_the_service_refuses(server):
    lines = ['{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', "{", "[]"]
    done = subprocess.run(
        [sys.executable, "clients/mcp_stdio.py", server.url],
        cwd=ROOT,
        env={"TRIP_COMPANION_TOKEN": "tc_wrong"},
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    refused, unread = map(json.loads, done.stdout.splitlines())
    assert refused["error"]["message"] == "The token is not valid."
    assert unread["error"]["code"] == -32700
