"""Plays a story with `splitwise-mcp-server`: `python play_splitwise_mcp.py <address>`."""

import asyncio
import sys
from decimal import Decimal

from accounts import Account
from splitwise_mcp.client import SplitwiseClient
from splitwise_mcp.exceptions import SplitwiseAPIError, SplitwiseNotFoundError
from splitwise_mcp.models import Split


def split(user_id: int, paid: str, owed: str) -> Split:
    return Split(user_id=user_id, paid_share=Decimal(paid), owed_share=Decimal(owed))


class Story:
    """Ana and Bob share a dinner in a group, and a taxi outside of it."""

    def __init__(self, client: SplitwiseClient, ana: Account, bob: Account) -> None:
        self.client, self.ana, self.bob = client, ana, bob
        self.owed = {ana.id: Decimal("22.22"), bob.id: Decimal("-22.22")}

    async def make_the_group(self) -> None:
        client, bob = self.client, self.bob
        assert (await client.get_current_user()).id == self.ana.id
        group = await client.create_group("Flat", group_type="home", simplify_by_default=True)
        names = {"first_name": "Bob", "last_name": "Builder"}
        added = await client.add_user_to_group(group.id, email=bob.email, **names)
        assert added is not None
        assert added.id == bob.id
        self.group = group.id

    async def spend_and_change(self) -> None:
        client, ana, bob = self.client, self.ana, self.bob
        dinner = await client.create_expense(
            cost=Decimal("33.33"),
            description="Dinner",
            splits=[split(ana.id, "33.33", "11.11"), split(bob.id, "0", "22.22")],
            group_id=self.group,
            category_id=13,
        )
        assert dinner.category is not None
        assert dinner.category.id == 13
        assert ana.balances(self.group) == self.owed
        await client.update_expense(dinner.id, description="Lunch", details="With Bob")
        assert ana.balances(self.group) == self.owed
        self.dinner = dinner.id

    async def delete_and_return(self) -> None:
        client = self.client
        await client.delete_expense(self.dinner)
        assert (await client.get_expense(self.dinner)).deleted
        assert set(self.ana.balances(self.group).values()) <= {0}
        await client.undelete_expense(self.dinner)
        assert self.ana.balances(self.group) == self.owed

    async def comment(self) -> None:
        client = self.client
        comment = await client.create_comment(self.dinner, "Nice")
        assert [one.content for one in await client.get_comments(self.dinner)] == ["Nice"]
        await client.delete_comment(comment.id)
        assert not await client.get_comments(self.dinner)

    async def settle_up(self) -> None:
        """As its tool does: an expense of one who owes nothing, and one who has paid nothing."""
        await self.client.create_expense(
            cost=Decimal("22.22"),
            description="Payment",
            splits=[split(self.bob.id, "22.22", "0"), split(self.ana.id, "0", "22.22")],
            group_id=self.group,
        )
        assert set(self.ana.balances(self.group).values()) == {0}

    async def spend_outside_of_groups(self) -> None:
        client, ana, bob = self.client, self.ana, self.bob
        await client.create_expense(
            cost=Decimal(5),
            description="Taxi",
            splits=[split(ana.id, "5", "2.5"), split(bob.id, "0", "2.5")],
        )
        assert ana.balances(ana.outside())[bob.id] == Decimal("-2.50")
        [friend] = await client.get_friends()
        assert [str(one.amount) for one in friend.balances] == ["2.5"]

    async def read_lists(self) -> None:
        assert len(await self.client.get_expenses(limit=2)) == 2
        assert await self.client.get_categories()
        assert await self.client.get_currencies()

    async def leave(self) -> None:
        await self.client.remove_user_from_group(self.group, self.bob.id)
        await self.client.delete_group(self.group)
        await self.client.undelete_group(self.group)

    async def fail(self) -> None:
        for wrong, kind in (
            (self.client.get_expense(10**9), SplitwiseNotFoundError),
            (self.client.create_group(""), SplitwiseAPIError),
        ):
            try:
                await wrong
            except kind:
                continue
            raise AssertionError(kind.__name__)


async def play(url: str) -> None:
    ana, bob = Account(url, "Ana"), Account(url, "Bob")
    async with SplitwiseClient(ana.key, base_url=f"{url}/api/v3.0") as client:
        story = Story(client, ana, bob)
        await story.make_the_group()
        await story.spend_and_change()
        await story.delete_and_return()
        await story.comment()
        await story.settle_up()
        await story.spend_outside_of_groups()
        await story.read_lists()
        await story.leave()
        await story.fail()


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1]))
