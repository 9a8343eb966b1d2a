"""Two commands that meet at a chosen moment: the second acts on what the first left."""

from tests.locks import while_locked
from tests.splits.journey import Journey, codes, sign_up, split_path


def test_two_adds_that_meet_before_the_row_is_written_make_one_member(server, journey, travellers):
    owner, user, *_others = travellers
    path, body = f"{journey.path}/members", {"userId": user.id}
    adding = [lambda: owner.call("POST", path, body)] * 3
    answers = while_locked(server, "users_user", user.id, adding)
    assert sorted(codes(answers)) == [(201, ""), *[(409, "already_member")] * 2]


def test_of_two_who_remove_the_same_member_the_second_finds_nobody(server, journey, travellers):
    owner, user, *_others = travellers
    journey.admit(user)
    path = f"{journey.path}/members/{user.id}"
    removing = [lambda: owner.call("DELETE", path)] * 2
    answers = while_locked(server, "trips_trip", journey.id, removing)
    assert sorted(codes(answers)) == [(204, ""), (404, "not_found")]


def test_an_owner_who_is_deleted_while_the_other_leaves_takes_no_owner_away(
    server, http, travellers
):
    admin, second, viewer, *_others = travellers
    first = sign_up(http)
    script = (
        f"from users.models import User; User.objects.filter(pk={admin.id}).update(role='ADMIN')"
    )
    server.manage("shell", "--no-imports", "-c", script)
    trip = Journey.start(first)
    trip.admit(second, "OWNER")
    trip.admit(viewer, "VIEWER")
    answers = while_locked(
        server,
        "users_user",
        first.id,
        [
            lambda: admin.call("DELETE", f"/users/{first.id}"),
            lambda: second.call("POST", f"{trip.path}/members/leave"),
        ],
    )
    assert sorted(codes(answers)) == [(204, ""), (409, "last_owner")]
    assert len(trip.owners(viewer)) == 1


def test_of_two_who_delete_the_same_the_second_finds_nothing(server, journey, travellers):
    owner, user, *_others = travellers
    journey.admit(user)
    expense = journey.spend(60, owner, user)
    split = next(s for s in expense["splits"] if s["participant"]["id"] == user.id)
    handed = user.done(
        "POST",
        f"{journey.path}/settlements",
        {"fromUserId": user.id, "toUserId": owner.id, "amount": 5},
    )
    for path in (
        split_path(split),
        f"{journey.path}/settlements/{handed['id']}",
        f"{journey.path}/expenses/{expense['id']}",
    ):
        deleting = [lambda p=path: owner.call("DELETE", p)] * 2
        answers = while_locked(server, "trips_trip", journey.id, deleting)
        assert sorted(codes(answers)) == [(204, ""), (404, "not_found")], path
        journey.adds_up()


def test_what_was_deleted_while_one_waited_is_neither_paid_nor_changed(server, journey, travellers):
    """T88: Deleting an expense while its split is paid leaves nothing behind."""
    owner, user, *_others = travellers
    journey.admit(user)
    for act in ("pay", "unpay", "change"):
        expense = journey.spend(60, owner, user)
        split = next(s for s in expense["splits"] if s["participant"]["id"] == user.id)
        path = f"{journey.path}/expenses/{expense['id']}"
        late = (
            (lambda p=path: owner.call("PATCH", p, {"amount": 70}))
            if act == "change"
            else (lambda s=split, a=act: user.call("PUT", split_path(s, f"/{a}")))
        )
        delete = [lambda p=path: owner.call("DELETE", p), late]
        answers = while_locked(server, "trips_trip", journey.id, delete)
        assert sorted(codes(answers)) == [(204, ""), (404, "not_found")], act
        assert journey.rows("expenses") == journey.rows("settlements") == []
        journey.adds_up()


def test_whoever_writes_money_waits_for_the_trip_before_deciding(server, journey, travellers):
    """T85, T89, T94: Payments of a split, its splits and a plan that meet are not recorded twice.

    With the trip held, all of them stop: at its lock, or else behind what they decided.
    """
    owner, debtor, third, *_others = travellers
    for user in (debtor, third):
        journey.admit(user)

    def meeting(calls):
        outcome = sorted(codes(while_locked(server, "trips_trip", journey.id, calls)))
        journey.adds_up()
        return outcome

    split = journey.spend(60, debtor)["splits"][0]
    paying = [lambda: debtor.call("PUT", split_path(split, "/pay"))] * 3
    assert meeting(paying) == [(200, "")] * 3
    assert [row["amount"] for row in journey.rows("settlements")] == [60]

    path = f"{journey.path}/expenses"
    body = journey.expense_body(10, owner)
    assert meeting([lambda: owner.call("POST", path, body)] * 3) == [(201, "")] * 3

    expense = journey.spend(100, owner)
    owner.done("DELETE", split_path(expense["splits"][0]))
    splits = f"/expenses/{expense['id']}/splits"
    parts = [{"participantUserId": user.id, "amount": 60} for user in (debtor, third)]
    adding = [lambda p=part: owner.call("POST", splits, p) for part in parts]
    assert meeting(adding) == [(201, ""), (409, "exceeds_expense")]

    # Each covers the debt, as far as something is left of it; the rest is credit.
    handed = {"fromUserId": debtor.id, "toUserId": owner.id, "amount": 60}
    settling = [lambda: debtor.call("POST", f"{journey.path}/settlements", handed)] * 2
    assert meeting(settling) == [(201, "")] * 2

    tag = owner.call("GET", f"{journey.path}/settle-up").headers["ETag"].strip('"')
    booking = [lambda: owner.call("POST", f"{journey.path}/settle-up", {"tag": tag})] * 2
    assert meeting(booking) == [(201, ""), (409, "plan_changed")]
    server.manage("audit_ledger")


def test_two_settlements_that_square_a_trip_together_close_it(server, journey, travellers):
    """Neither does alone, and no debt is owed to who gets the money."""
    people = travellers[:6]
    for user in people[1:]:
        journey.admit(user)
    for debtor, creditor in ((0, 1), (1, 2), (3, 4), (4, 5)):
        body = journey.expense_body(10, people[debtor], paidByUserId=people[creditor].id)
        people[creditor].done("POST", f"{journey.path}/expenses", body)
    handed = [
        {"fromUserId": people[sender].id, "toUserId": people[receiver].id, "amount": 10}
        for sender, receiver in ((0, 2), (3, 5))
    ]
    path = f"{journey.path}/settlements"
    calls = [lambda b=body: people[0].call("POST", path, b) for body in handed]
    assert sorted(codes(while_locked(server, "trips_trip", journey.id, calls))) == [(201, "")] * 2
    journey.adds_up()
    expenses = journey.rows("expenses")
    assert {split["paid"] for expense in expenses for split in expense["splits"]} == {True}
