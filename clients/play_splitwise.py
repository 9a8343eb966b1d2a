"""Plays a story with PyPI's `splitwise`, as it is: `python play_splitwise.py <address>`."""

import re
import sys
import tempfile
from collections.abc import Callable
from decimal import Decimal

from accounts import Account
from splitwise import Splitwise
from splitwise.exception import SplitwiseNotFoundException, SplitwiseUnauthorizedException
from splitwise.expense import Expense
from splitwise.group import Group
from splitwise.user import ExpenseUser, User


def point_to(url: str) -> None:
    """Replace the addresses, which are constants of the class."""
    for name, value in list(vars(Splitwise).items()):
        if isinstance(value, str) and value.startswith("https://"):
            setattr(Splitwise, name, re.sub("https://[^/]*", url, value))


def part(user_id: int, paid: str, owed: str) -> ExpenseUser:
    share = ExpenseUser()
    share.setId(user_id)
    share.setPaidShare(paid)
    share.setOwedShare(owed)
    return share


def expense(cost: str, description: str, *parts: ExpenseUser, group_id: int = 0) -> Expense:
    new = Expense()
    new.setCost(cost)
    new.setDescription(description)
    if group_id:
        new.setGroupId(group_id)
    if parts:
        new.setUsers(list(parts))
    return new


def create(client: Splitwise, new: Expense) -> Expense:
    created, errors = client.createExpense(new)
    assert errors is None, errors.getErrors()
    return created


def fails(kind: type[Exception], call: Callable[..., object], *arguments: object) -> None:
    try:
        call(*arguments)
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


class Story:
    """Ana, Bob and the guest Carla share a flat, and a taxi outside of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.ana, self.bob = Account(url, "Ana Ünal"), Account(url, "Bob")
        self.client = Splitwise("", "", api_key=self.ana.key)

    def read_and_send_back_the_account(self) -> None:
        own = self.client.getCurrentUser()
        assert (own.getFirstName(), own.getLastName(), own.getId()) == ("Ana", "Ünal", self.ana.id)
        _user, errors = self.client.updateUser(own)
        assert errors is None

    def make_the_group(self) -> None:
        flat, guest, added = Group(), User(), User()
        flat.setName("Flat")
        guest.setFirstName("Carla")
        flat.setMembers([guest])
        group, errors = self.client.createGroup(flat)
        assert errors is None
        self.group: int = group.getId()
        ids = (one.getId() for one in group.getMembers())
        self.carla = next(user_id for user_id in ids if user_id != self.ana.id)
        added.setFirstName("Bob")
        added.setEmail(self.bob.email)
        success, friend, errors = self.client.addUserToGroup(added, self.group)
        assert (success, friend.getId(), errors) == (True, self.bob.id, None)
        nameless, errors = self.client.createGroup(Group())
        assert nameless.getId() is None
        assert errors.getErrors()

    def spend(self) -> None:
        """By shares, Ana has paid 40 of 60, Bob 20; they bear 10, 20 and 30. Then 10 each."""
        shares = part(self.ana.id, "40", "10"), part(self.bob.id, "20", "20")
        guest = part(self.carla, "0", "30")
        self.rent = create(self.client, expense("60", "Rent", *shares, guest, group_id=self.group))
        equal = expense("30", "Dinner", group_id=self.group)
        equal.setSplitEqually(True)
        with tempfile.NamedTemporaryFile(suffix=".pdf") as receipt:
            receipt.write(b"%PDF-1.7 A receipt")
            receipt.flush()
            equal.setReceipt(receipt.name)
            self.dinner = create(self.client, equal)
        assert "/api/attachments/" in self.dinner.getReceipt().getOriginal()
        assert len(self.dinner.getUsers()) == 3
        self.balances = {self.ana.id: Decimal(50), self.bob.id: Decimal(-10)}
        self.balances[self.carla] = Decimal(-40)
        assert self.ana.balances(self.group) == self.balances
        members = self.client.getGroup(self.group).getMembers()
        for user_id, [balance] in {one.getId(): one.getBalances() for one in members}.items():
            assert Decimal(balance.getAmount()) == self.balances[user_id]

    def change(self) -> None:
        """What was created may be sent back, and changes nothing; then its shares change."""
        self.dinner_id: int = self.dinner.getId()
        self.rent_id: int = self.rent.getId()
        _changed, errors = self.client.updateExpense(self.dinner)
        assert errors is None, errors.getErrors()
        assert self.ana.balances(self.group) == self.balances
        shares = part(self.ana.id, "60", "30"), part(self.carla, "0", "30")
        change = expense("60", "Rent and power", *shares)
        change.id = self.rent_id
        changed, errors = self.client.updateExpense(change)
        assert (errors, changed.getDescription()) == (None, "Rent and power")
        short = part(self.ana.id, "60", "59.99")
        created, errors = self.client.createExpense(
            expense("60", "Wrong", short, group_id=self.group)
        )
        assert created is None
        assert errors.getErrors()

    def pay(self) -> None:
        shares = part(self.carla, "40", "0"), part(self.ana.id, "0", "40")
        payment = expense("40", "Payment", *shares, group_id=self.group)
        payment.setPayment(True)
        paid = create(self.client, payment)
        assert self.client.getExpense(paid.getId()).getPayment()
        balances = {self.ana.id: 10, self.bob.id: -10, self.carla: 0}
        assert self.ana.balances(self.group) == balances

    def delete(self) -> None:
        client, dinner = self.client, self.dinner_id
        assert client.deleteExpense(dinner) == (True, None)
        assert client.getExpense(dinner).getDeletedAt()
        assert len(client.getExpenses(limit=0, visible=True)) == 2
        assert len(client.getExpenses(limit=0, group_id=self.group)) == 3
        success, errors = client.deleteExpense(dinner)
        assert (success, bool(errors.getErrors())) == (False, True)
        balances = {self.ana.id: -10, self.bob.id: 0, self.carla: 10}
        assert self.ana.balances(self.group) == balances

    def comment(self) -> None:
        comment, errors = self.client.createComment(self.rent_id, "Paid <late>")
        assert (errors, comment.getContent()) == (None, "Paid <late>")
        texts = [one.getContent() for one in self.client.getComments(self.rent_id)]
        assert texts == ["Paid <late>"]
        assert self.client.getNotifications()

    def spend_outside_of_groups(self) -> None:
        ana, bob = self.ana.id, self.bob.id
        shares = part(ana, "9.5", "0"), part(bob, "0", "9.50")
        create(self.client, expense("9.50", "Taxi", *shares))
        balances = {ana: Decimal("9.50"), bob: Decimal("-9.50")}
        assert self.ana.balances(self.ana.outside()) == balances
        friends = {one.getId(): one.getBalances() for one in self.client.getFriends()}
        assert [one.getAmount() for one in friends[bob]] == ["9.5"]
        assert [one.getId() for one in self.client.getGroups()] == [0, self.group]

    def read_lists(self) -> None:
        assert self.client.getUser(self.bob.id).getFirstName() == "Bob"
        assert {one.getCode() for one in self.client.getCurrencies()} > {"EUR", "JPY"}
        categories = self.client.getCategories()
        assert sum(len(one.getSubcategories()) for one in categories) == 43

    def refuse_strangers(self) -> None:
        stranger = Splitwise("", "", api_key=Account(self.url, "Sam").key)
        fails(SplitwiseNotFoundException, stranger.getGroup, self.group)
        nobody = Splitwise("", "", api_key="x")
        fails(SplitwiseUnauthorizedException, nobody.getFriends)
        assert self.client.deleteGroup(self.group) == (True, None)


def main(url: str) -> None:
    point_to(url)
    story = Story(url)
    story.read_and_send_back_the_account()
    story.make_the_group()
    story.spend()
    story.change()
    story.pay()
    story.delete()
    story.comment()
    story.spend_outside_of_groups()
    story.read_lists()
    story.refuse_strangers()


if __name__ == "__main__":
    main(sys.argv[1])
