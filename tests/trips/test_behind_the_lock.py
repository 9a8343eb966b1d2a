"""Commands that wait for a trip's lock act on what is true when they get it.

Each request has passed all checks, and waits while somebody else removes or demotes the caller,
changes the currency, deletes the trip, or makes the expense another one's.
"""

from functools import partial
from typing import Any

import pytest

from tests.locks import answer_after, holding
from tests.server import running_server
from tests.splits.journey import sign_up, split_path
from tests.trips.access import endpoints
from tests.trips.waiting import (
    COMMANDS,
    LOCKS_CALLER,
    Scene,
    Waiting,
    commit,
    every_command,
    for_each,
    is_less_for_viewers,
    locks_all_accounts,
    locks_caller,
)
from tests.walked import all_of
from trips.roles import Can
from trips.viewsets import InTripViewSet

#: Of plugins, with `trip_id` and `created_by_id`.
OWNED_TABLES = all_of("OWNED_TABLES")
WRITING = {"POST", "PUT", "PATCH", "DELETE"}
#: They write nothing, or lock no trip: whoever makes a trip is its only member.
WITHOUT_LOCK = {
    ("POST", "/api/trips"),
    ("POST", "/api/trips/{trip_id}/expenses/preview"),
    *all_of("WITHOUT_LOCK"),
}
REMOVED = "UPDATE trips_member SET left_at = CURRENT_TIMESTAMP WHERE trip_id = %s AND user_id = %s"
DEMOTED = "UPDATE trips_member SET role = 'VIEWER' WHERE trip_id = %s AND user_id = %s"


@pytest.fixture(scope="module")
def server():
    """One of our own: statements by hand leave ledgers behind that no audit would like."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def people(http):
    return [sign_up(http) for _number in range(5)]


@pytest.fixture
def scene(people):
    return Scene(people)


def test_every_writing_route_is_here():
    routes = {
        (end.method, end.route)
        for end in endpoints()
        if issubclass(end.view, InTripViewSet) and end.method in WRITING
    }
    here = {(command.method, command.route) for command in COMMANDS}
    assert routes == here | WITHOUT_LOCK | {*all_of("WAIT_ELSEWHERE")}


@every_command
def test_who_was_removed_does_nothing(server, scene, command):
    """T129: Rights that were lost while a request waits for a trip's lock are not used."""
    waiting = Waiting(server, scene, command, scene.omar)
    assert waiting.refusal((REMOVED, scene.trip.id, scene.omar.id)) == (404, "not_found")


@pytest.mark.slow
@every_command
def test_who_was_demoted_does_what_a_viewer_may(server, scene, command):
    if not is_less_for_viewers(command):
        pytest.skip("Viewers may do this.")
    waiting = Waiting(server, scene, command, scene.omar)
    assert waiting.refusal((DEMOTED, scene.trip.id, scene.omar.id)) == (403, "forbidden")


# `make check` has each command for one who was removed, and for a trip that is deleted; these are
# slow together.
@pytest.mark.slow
@every_command
def test_who_was_deactivated_does_nothing(server, people, command):
    deactivated = sign_up(people[0].http)
    waiting = Waiting(server, Scene([people[0], deactivated, *people[2:]]), command, deactivated)
    change = ("UPDATE users_user SET is_active = FALSE WHERE id = %s", deactivated.id)
    is_locked = locks_caller(command) or locks_all_accounts(command)
    account = deactivated.id if is_locked else 0
    assert waiting.refusal(change, account=account) == (401, "not_authenticated")


@pytest.mark.slow
@every_command
def test_who_was_an_admin_does_nothing_in_the_trips_of_others(server, people, scene, command):
    if command.route.endswith("/leave"):
        pytest.skip("An ADMIN who is no member has nothing to leave.")
    admin = sign_up(people[0].http)
    role = "UPDATE users_user SET role = %s WHERE id = %s"
    commit(server, "users_user", admin.id, [(role, "ADMIN", admin.id)])
    waiting = Waiting(server, scene, command, admin)
    is_locked = command[1:3] in LOCKS_CALLER or locks_all_accounts(command)
    account = admin.id if is_locked else 0
    assert waiting.refusal((role, "USER", admin.id), account=account) == (404, "not_found")


@pytest.mark.slow
@every_command
def test_who_may_not_is_told_without_waiting_for_the_lock(server, scene, command):
    """Else anybody could have the threads of the server wait for a trip that is busy."""
    call = Waiting(server, scene, command, scene.omar).call
    trip = scene.trip.id
    refusals = {REMOVED: 404}
    if is_less_for_viewers(command):
        refusals = {DEMOTED: 403, **refusals}
    for change, status in refusals.items():
        commit(server, "trips_trip", trip, [(change, trip, scene.omar.id)])
        with holding(server, "trips_trip", trip):
            assert call().status_code == status


@pytest.mark.slow
@every_command
def test_in_a_trip_that_is_gone_nothing_happens(server, scene, command):
    waiting = Waiting(server, scene, command, scene.omar)
    trip = scene.trip.id
    expenses = "SELECT id FROM splits_expense WHERE trip_id = %s"
    deletions = [
        ("DELETE FROM splits_allocation WHERE debt_id IN "
         "(SELECT id FROM splits_debt WHERE trip_id = %s)", trip),
        ("DELETE FROM splits_debt WHERE trip_id = %s", trip),
        ("DELETE FROM splits_settlement WHERE trip_id = %s", trip),
        (f"DELETE FROM splits_split WHERE expense_id IN ({expenses})", trip),  # noqa: S608 -- names only
        (f"DELETE FROM splits_payer WHERE expense_id IN ({expenses})", trip),  # noqa: S608 -- names only
        *((f"DELETE FROM {table} WHERE trip_id = %s", trip) for table in OWNED_TABLES),  # noqa: S608 -- names only
        ("DELETE FROM splits_expense WHERE trip_id = %s", trip),
        ("DELETE FROM splits_deletedentry WHERE trip_id = %s", trip),
        ("DELETE FROM trips_member WHERE trip_id = %s", trip),
        ("DELETE FROM trips_trip WHERE id = %s", trip),
    ]  # fmt: skip
    assert waiting.refusal(*deletions) == (404, "not_found")


@pytest.mark.slow
@every_command
def test_in_a_trip_that_is_deleted_nothing_happens(server, scene, command):
    """T92: Deleting a trip concurrently leaves no orphaned rows.

    Also where its members are still there; and a later deletion is not undone.
    """
    waiting = Waiting(server, scene, command, scene.omar)
    deleted = "UPDATE trips_trip SET deleted_at = CURRENT_TIMESTAMP WHERE id = %s"
    assert waiting.refusal((deleted, scene.trip.id)) == (404, "not_found")


@for_each([command for command in COMMANDS if command.has_amounts])
def test_amounts_that_were_meant_in_another_currency_are_refused(server, scene, command):
    """T130: Amounts in a currency that the trip no longer has are refused."""
    waiting = Waiting(server, scene, command, scene.omar)
    yen = ("UPDATE trips_trip SET currency = 'JPY' WHERE id = %s", scene.trip.id)
    assert waiting.refusal(yen) == (409, "currency_changed")


def patched(scene, changes, body, **stored):
    """Status and answer of a PATCH that waits while columns of the expense change."""
    expense = scene.expense["id"]
    call = partial(scene.ed.call, "PATCH", f"{scene.trip.path}/expenses/{expense}", body)
    response, nothing_stored = answer_after(changes, "trips_trip", scene.trip.id, call, *[
        (f"UPDATE splits_expense SET {name} = %s WHERE id = %s", value, expense)  # noqa: S608 -- names only
        for name, value in stored.items()
    ])  # fmt: skip
    assert nothing_stored or response.is_success
    return response.status_code, response.json()


@pytest.mark.parametrize(
    "body",
    [
        {"amount": 30},
        {"payers": [{"userId": 0, "amount": 20}]},
        {"splitType": "MANUAL", "splitAmounts": {"0": 20}},
    ],
    ids=["amount", "payers", "splits"],
)
def test_amounts_that_were_meant_in_the_former_currency_of_the_expense_are_refused(
    server, scene, body
):
    scene.spend()
    if "payers" in body:
        body = {"payers": [{"userId": scene.ed.id, "amount": 20}]}
    if "splitAmounts" in body:
        body = {**body, "splitAmounts": {str(scene.vera.id): 20}}
    status, answer = patched(scene, server, body, currency="JPY", exchange_rate=1)
    assert (status, answer["code"]) == (409, "currency_changed")


def test_an_amount_with_its_currency_is_stored_whatever_was_before(server, scene):
    scene.spend()
    body = {"amount": 30, "currency": "EUR"}
    status, answer = patched(scene, server, body, currency="JPY", exchange_rate=1)
    assert (status, answer["amount"], answer["currency"]) == (200, 30, "EUR")


def test_a_payer_who_is_named_alone_paid_what_the_expense_is_by_then(server, scene):
    scene.spend()
    body = {"paidByUserId": scene.olga.id}
    status, answer = patched(scene, server, body, amount_minor=3000, entered_minor=3000)
    assert (status, answer["payers"][0]["amount"]) == (200, 30)


def test_numbers_that_were_meant_for_another_split_type_are_refused(server, scene):
    scene.spend()
    body: dict[str, Any] = {"splitType": "SHARES", "splitAmounts": {str(scene.vera.id): 2}}
    scene.ed.done("PATCH", f"{scene.trip.path}/expenses/{scene.expense['id']}", body)
    del body["splitType"]
    status, answer = patched(scene, server, body, split_type="MANUAL")
    assert (status, answer["code"]) == (409, "expense_changed")


OWNED = {Can.CHANGE_EXPENSES, Can.DELETE_SPLITS, Can.DELETE_SETTLEMENTS}


def _is_restore(command):
    """Whose it was when it was deleted, it stays."""
    return command.route.endswith("/restore")


@for_each([c for c in COMMANDS if c.can in OWNED and not _is_restore(c)])
def test_what_is_anothers_by_now_is_not_changed(server, scene, command):
    waiting = Waiting(server, scene, command, scene.ed)
    changes = [
        ("UPDATE splits_expense SET created_by_id = %s WHERE trip_id = %s"),
        ("UPDATE splits_payer SET user_id = %s WHERE expense_id IN "
         "(SELECT id FROM splits_expense WHERE trip_id = %s)"),
        ("UPDATE splits_settlement SET created_by_id = %s WHERE trip_id = %s"),
        *(f"UPDATE {table} SET created_by_id = %s WHERE trip_id = %s" for table in OWNED_TABLES),  # noqa: S608 -- names only
    ]  # fmt: skip
    owner, trip = scene.olga.id, scene.trip.id
    assert waiting.refusal(*((text, owner, trip) for text in changes)) == (403, "forbidden")


def claimed(scene):
    """Statements after which Nina is who Vera was in the trip."""
    texts = [
        "UPDATE trips_member SET user_id = %s WHERE user_id = %s AND trip_id = %s",
        "UPDATE splits_split SET participant_id = %s WHERE participant_id = %s "
        "AND expense_id IN (SELECT id FROM splits_expense WHERE trip_id = %s)",
        "UPDATE splits_debt SET debtor_id = %s WHERE debtor_id = %s AND trip_id = %s",
        "UPDATE splits_settlement SET sender_id = %s WHERE sender_id = %s AND trip_id = %s",
    ]
    return [(text, scene.nina.id, scene.vera.id, scene.trip.id) for text in texts]


NAMING_PEOPLE = ("/splits/{split_id}", "/settlements/{settlement_id}", "/{user_id}")


@for_each([c for c in COMMANDS if any(part in c.route for part in NAMING_PEOPLE)])
def test_beside_a_claim_nothing_fails(server, scene, command):
    call = Waiting(server, scene, command, scene.omar).call
    response, _nothing = answer_after(server, "trips_trip", scene.trip.id, call, *claimed(scene))
    assert response.is_success or response.status_code in {400, 404, 409}, response.text


@for_each([command for command in COMMANDS if "/members/{user_id}" in command.route])
def test_a_guest_who_was_claimed_is_not_found_as_another(server, scene, command):
    """T183: A command on a guest does not affect an account that claims the guest."""
    assert Waiting(server, scene, command, scene.omar).refusal(*claimed(scene)) == (
        404,
        "not_found",
    )


def doubled(scene):
    """Statements after which the expense, and what Nina owes of it, is 40."""
    expense, split, trip = scene.expense["id"], scene.expense["splits"][0]["id"], scene.trip.id
    put_in = "SET amount_minor = 4000, entered_minor = 4000"
    return [
        (f"UPDATE splits_expense {put_in} WHERE id = %s", expense),
        (f"UPDATE splits_payer {put_in} WHERE expense_id = %s", expense),
        ("UPDATE splits_split SET amount_minor = 4000 WHERE id = %s", split),
        ("UPDATE splits_debt SET amount_minor = 4000, open_minor = open_minor + 2000 "
         "WHERE split_id = %s", split),
        ("UPDATE trips_member SET share_minor = share_minor + 2000, owed_minor = owed_minor + 2000 "
         "WHERE trip_id = %s AND user_id = %s", trip, scene.nina.id),
        ("UPDATE trips_member SET paid_minor = paid_minor + 2000 "
         "WHERE trip_id = %s AND user_id = %s", trip, scene.ed.id),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "action", "changes"),
    [
        ("PUT", "/pay", {"paid": [False, True], "paidAmount": [5, 40]}),
        ("PUT", "/unpay", {"paidAmount": [5, 0]}),
        ("DELETE", "", {"amount": [40, None]}),
    ],
)
def test_a_split_is_of_the_person_and_the_amount_that_it_has_by_then(
    server, scene, method, action, changes
):
    """In the answer and in the journal."""
    scene.spend()
    scene.nina.done("PUT", f"/users/{scene.nina.id}/profile", {"name": "Nina"})
    call = partial(scene.omar.call, method, split_path(scene.expense["splits"][0]) + action)
    trip, statements = scene.trip, [*claimed(scene), *doubled(scene)]
    response, _nothing = answer_after(server, "trips_trip", trip.id, call, *statements)
    assert response.is_success, response.text
    if action:
        shown = response.json()
        assert (shown["participant"]["id"], shown["amount"]) == (scene.nina.id, 40)
        assert shown["paidAmount"] == changes["paidAmount"][1]
    noted = next(row for row in server.journal(trip.id) if row["event"].startswith("split."))
    assert {name: [c["old"], c["new"]] for name, c in noted["changes"].items()}.items() >= (
        changes.items()
    )
    assert noted["person_id"] == scene.nina.id


def test_a_plan_that_came_to_hold_transfers_of_others_is_not_recorded_by_an_editor(server, scene):
    """T131: The right to record a plan is checked against the plan that is recorded.

    The tag is that of the plan as it will be; the caller's right is judged on that plan.
    """
    scene.spend()
    scene.trip.admit(scene.nina, "VIEWER")
    shifted = (
        "UPDATE trips_member SET paid_minor = paid_minor + %s WHERE trip_id = %s AND user_id = %s"
    )
    trip = scene.trip.id
    there = [(shifted, 700, trip, scene.nina.id), (shifted, -700, trip, scene.omar.id)]
    back = [(shifted, -amount, *ids) for _text, amount, *ids in there]
    commit(server, "trips_trip", trip, there)
    tag = scene.plan_tag()
    commit(server, "trips_trip", trip, back)
    call = partial(scene.ed.call, "POST", f"{scene.trip.path}/settle-up", {"tag": tag})
    response, nothing_stored = answer_after(server, "trips_trip", trip, call, *there)
    assert (response.status_code, nothing_stored) == (403, True)
