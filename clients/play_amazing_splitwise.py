"""Plays a story with `amazing-splitwise-mcp`: `python play_amazing_splitwise.py <address>`.

It is started as an assistant starts it, and told where to go by its environment alone.
"""

import asyncio
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

from accounts import Account
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

COMMAND = Path(sys.executable).with_name("amazing-splitwise-mcp")


class Story:
    """Ana and Bob share a dinner and a taxi."""

    def __init__(self, session: ClientSession, ana: Account, bob: Account) -> None:
        self.session, self.ana, self.bob = session, ana, bob

    async def call(self, tool: str, **params: Any) -> str:
        body = {} if tool == "health_check" else {"params": params}
        answer = await self.session.call_tool(f"splitwise_{tool}", body)
        text: str = answer.content[0].text
        assert not answer.isError, f"{tool}: {text}"
        assert not text.startswith("Error"), f"{tool}: {text}"
        return text

    async def make_the_group(self) -> None:
        assert "Ana" in await self.call("health_check")
        person = {"email": self.bob.email, "first_name": "Bob"}
        await self.call("create_group", name="Flat", group_type="home", members=[person])
        [trip] = self.ana.ask("/trips")["items"]
        self.group = trip["id"]

    async def spend(self) -> None:
        ana, bob = self.ana.id, self.bob.id
        equal = {"cost": "30.01", "description": "Dinner", "split_equally": True}
        await self.call("create_expense", **equal, group_id=self.group)
        balances = self.ana.balances(self.group)
        assert balances[ana] in {Decimal("15.00"), Decimal("15.01")}
        shares = [share(ana, "10.00", "4.00"), share(bob, "0.00", "6.00")]
        body = {"cost": "10.00", "description": "Taxi", "shares": shares}
        await self.call("create_expense", **body, group_id=self.group, date="2026-05-14")
        self.balances = {ana: balances[ana] + 6, bob: balances[bob] - 6}
        assert self.ana.balances(self.group) == self.balances

    async def change(self) -> None:
        expenses = self.ana.ask(f"/trips/{self.group}/expenses")["items"]
        [self.taxi] = [one["id"] for one in expenses if one["description"] == "Taxi"]
        body = {"expense_id": self.taxi, "description": "Night bus", "details": "Late"}
        await self.call("update_expense", **body)
        assert "Night bus" in await self.call("get_expense", expense_id=self.taxi)

    async def delete_and_return(self) -> None:
        await self.call("delete_expense", expense_id=self.taxi)
        assert self.ana.balances(self.group)[self.bob.id] == self.balances[self.bob.id] + 6
        await self.call("undelete_expense", expense_id=self.taxi)
        assert self.ana.balances(self.group) == self.balances

    async def comment(self) -> None:
        await self.call("create_comment", expense_id=self.taxi, content="Nice")
        assert "Nice" in await self.call("get_comments", expense_id=self.taxi)
        [comment] = self.ana.ask(f"/expenses/{self.taxi}/comments")["items"]
        await self.call("delete_comment", comment_id=comment["id"])

    async def settle_up(self) -> None:
        owed = str(self.balances[self.ana.id])
        paid = [share(self.bob.id, owed, "0.00"), share(self.ana.id, "0.00", owed)]
        settled = {"cost": owed, "description": "Payment", "shares": paid}
        await self.call("create_expense", **settled, group_id=self.group)
        assert set(self.ana.balances(self.group).values()) == {0}

    async def read_lists(self) -> None:
        assert "Bob" in await self.call("get_friends")
        assert "Flat" in await self.call("get_groups")
        assert "Dinner" in await self.call("get_expenses", group_id=self.group)
        await self.call("get_notifications")

    async def leave(self) -> None:
        await self.call("delete_group", group_id=self.group)
        await self.call("undelete_group", group_id=self.group)


async def play(url: str) -> None:
    ana, bob = Account(url, "Ana"), Account(url, "Bob")
    environment = {
        "SPLITWISE_API_URL": f"{url}/api/v3.0",
        "SPLITWISE_API_KEY": ana.key,
        "SPLITWISE_ALLOW_WRITES": "1",
    }
    server = StdioServerParameters(command=str(COMMAND), env=environment)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        story = Story(session, ana, bob)
        await story.make_the_group()
        await story.spend()
        await story.change()
        await story.delete_and_return()
        await story.comment()
        await story.settle_up()
        await story.read_lists()
        await story.leave()


def share(user_id: int, paid: str, owed: str) -> dict[str, Any]:
    return {"user_id": user_id, "paid_share": paid, "owed_share": owed}


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
